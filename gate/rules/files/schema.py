"""Files that are no schema-2 report, and reports that are not of the kind they say."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule, outside_rule
from gate.rulebook.report_view import FOREIGN_ENGINES, ReportView
from gate.rulebook.rule import Example, Finding

SCHEMA_INVALID = outside_rule(
    "SCHEMA_INVALID",
    title="A report that does not validate",
    catches="A file that looks like a report and is not one: a missing, unknown or ill-typed field, an unknown kind, "
    "NaN, a key that stands twice, no JSON at all.",
    why="What is read leniently is read differently by everybody; a boolean counted as a number once passed a gate.",
    fix="Correct the named field; `k3 report schema` prints what is expected.",
    severity="invalid",
    example=Example(bad='`"repeat": "3"`, a string where a number belongs', good='`"repeat": 3`'),
)

LEGACY_SCHEMA = outside_rule(
    "LEGACY_SCHEMA",
    title="A report from before schema 2",
    catches="A schema version below 2, or none in a format that has them.",
    why="Such reports lack what the rules need. They stay readable and are never citable.",
    fix="Measure again with `k3 eval`.",
    severity="legacy",
    example=Example(
        bad="`schema_version` 1 with a printed speed-up", good="the run measured again, `schema_version` 2"
    ),
)

ENGINES = frozenset({"ar", "native-baseline", "incremental", "fused", "fused-carry"}) | FOREIGN_ENGINES
"""Engines that K3 runs, by the names that reports carry. What an unknown engine does, no rule can know."""


@evidence_rule(
    "KIND_MISMATCH",
    title="The report is not of the kind it says",
    catches="A kind without its contents (a parity report without blocks, a needle report without arms) or with those "
    "of another, a kind that K3 never runs and that is not imported, or an arm of an engine that K3 does not have.",
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
        "kv_quant": report.kv_quant is not None and bool(report.kv_quant.arms) and not report.arms,
    }
    if not held.get(report.kind, view.imported):
        message = f"kind: a report of kind {report.kind} without what such a run measures, or with another run's rows"
        yield Finding(message, field="kind", found=report.kind, allowed="the rows of that kind")
    for arm in report.arms if not view.imported else ():
        if arm.engine not in ENGINES:
            message = f"{arm.name}: engine {arm.engine} is unknown; K3 has {', '.join(sorted(ENGINES))}"
            yield Finding(message, arm.name, None, "engine", arm.engine, ", ".join(sorted(ENGINES)))
