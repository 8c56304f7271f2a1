"""Reports that are not of the kind they say."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from reports.engines import ENGINES
from reports.records.constants import UNTIMED_KINDS


@evidence_rule(
    "KIND_MISMATCH",
    title="The report is not of the kind it says",
    catches="A kind without its contents (a parity report without blocks, a needle report without arms) or with those "
    "of another, a kind that K3 never runs and that is not imported, or an arm of an engine that neither K3 nor a "
    "plug-in in provenance has.",
    why="Rules ask for what a kind must hold; a kind misspelt or emptied would be asked for nothing.",
    fix="Give the kind of the run; name engines as `k3 eval` does.",
    example=Example(bad="kind `parity` without a block", good="kind `parity` with the blocks of both runtimes"),
)
def kind_mismatch(view: ReportView) -> Iterator[Finding]:
    """Kind and contents disagree."""
    report = view.report
    held = {
        "niah": bool(report.arms) and report.kv_quant is None,
        "code": bool(report.arms) and report.kv_quant is None,
        "parity": report.parity is not None and bool(report.parity.blocks) and not report.arms,
        "runtime_smoke": report.runtime_smoke is not None and bool(report.runtime_smoke.steps),
        "platform_tests": report.platform_tests is not None,
        "replay": report.replay is not None and bool(report.replay.rows),
        "kv_quant": report.kv_quant is not None and bool(report.kv_quant.arms) and not report.arms,
    }
    measured = bool(report.arms) or any(part is not None for part in (report.parity, report.kv_quant, report.memory))
    conduct = [name for name in UNTIMED_KINDS if getattr(report, name) is not None]
    mixed = conduct != ([report.kind] if view.untimed else []) or (view.untimed and measured)
    if mixed or not held.get(report.kind, view.imported):
        message = f"kind: a report of kind {report.kind} without what such a run measures, or with another run's rows"
        yield Finding(message, field="kind", found=report.kind, allowed="the rows of that kind")
    for arm in report.arms if not view.imported else ():
        if arm.engine not in ENGINES and not view.engine_absent(arm):  # of those, PLUGIN_ABSENT tells
            message = f"{arm.name}: engine {arm.engine} is unknown; K3 has {', '.join(sorted(ENGINES))}"
            yield Finding(message, arm.name, None, "engine", arm.engine, ", ".join(sorted(ENGINES)))
