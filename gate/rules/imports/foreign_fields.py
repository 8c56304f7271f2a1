"""Fields that only imports have: what another tool printed. A report of our own that fills them in states, unasked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement
    from reports.report import Report


@evidence_rule(
    "IMPORT_FIELD",
    title="A figure of another tool in a report of our own",
    catches="A report that is not imported and holds what only imports record: stated rates, acceptance, recall, bits, "
    "errors, agreement, flags, an estimator, accept lengths counted as other tools do, or the timing scope of a tool "
    "that times in one piece.",
    why="What K3 measures it derives; a stated figure beside the rows is there to be quoted.",
    fix="Remove the stated figures; import a file of another tool with `k3 report import`.",
    example=Example(
        bad="`stated_acceptance` 0.86 in a report of K3", good="nothing stated; acceptance from the blocks"
    ),
)
def import_field(view: ReportView) -> Iterator[Finding]:
    """A field for imports is set in a report that is none."""
    if view.imported:
        return
    for arm in view.report.arms:
        for field in _of_arm(arm):
            yield _at(f"{arm.name}: {field}", field, arm.name)
        for row in arm.measurements:
            for field in _of_row(row):
                yield _at(f"{arm.name}, sample {row.sample}, repeat {row.repeat}: {field}", field, arm.name, row.sample)
    for claim in view.report.claims:
        if claim.metric in ("decode_speedup", "e2e_speedup") and claim.estimator is not None:
            yield _at(f"claims: estimator {claim.estimator}", "claims.estimator", claim.arm)
    for field in _of_results(view.report):
        yield _at(field, field, None)
    for table in view.report.memory.arms if view.report.memory is not None else ():
        if table.stated_formula_matches_run is not None:
            yield _at("memory: stated_formula_matches_run", "memory.stated_formula_matches_run", None)


def _of_results(report: Report) -> Iterator[str]:
    """What is stated of codecs, of a parity or of a smoke."""
    for codec in report.kv_quant.arms if report.kv_quant is not None else ():
        names = ("stated_recall", "stated_bits", "stated_relative_error")
        yield from (f"kv_quant.arms.{name}" for name in names if getattr(codec, name) is not None)
    if report.parity is not None and report.parity.stated_agreement is not None:
        yield "parity.stated_agreement"
    if report.runtime_smoke is not None and report.runtime_smoke.stated_passed is not None:
        yield "runtime_smoke.stated_passed"


def _of_arm(arm: Arm) -> Iterator[str]:
    if arm.stated_rates:
        yield "stated_rates"
    if arm.stated_acceptance is not None:
        yield "stated_acceptance"
    if arm.timing_scope not in ("stages", None) and not (arm.timing_scope == "client_stream" and arm.served_by):
        yield "timing_scope"


def _of_row(row: Measurement) -> Iterator[str]:
    if row.stated_restoration_active is not None:
        yield "stated_restoration_active"
    if row.stated_decode_tok_s is not None:
        yield "stated_decode_tok_s"
    if row.speculation is not None and row.speculation.accept_len_counts not in ("committed", None):
        yield "speculation.accept_len_counts"


def _at(place: str, field: str, arm: str | None, sample: int | None = None) -> Finding:
    message = f"{place} is recorded by imports only; K3 derives it"
    return Finding(message, arm, sample, field, "set", "nothing")
