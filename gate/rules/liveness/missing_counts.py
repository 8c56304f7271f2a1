"""Rows that do not say what ran: their times, their flags, their counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.liveness import did_draft, did_restore
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts, foreign_peer, plain, restores
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


@evidence_rule(
    "MISSING_STAGE_TIMINGS",
    title="Rows without stage timings",
    catches="An arm under test without rows, or with rows that lack prefill, decode, end-to-end or restoration "
    "seconds.",
    why="A total hides which stage was fast: the headline of 2.58x was the noise of prefill.",
    fix="Measure every stage of every row, with the same events in every arm.",
    severity="withheld",
    example=Example(bad="a row with `e2e_s` alone", good="a row with `prefill_s`, `decode_s` and `e2e_s`"),
)
def missing_stage_timings(view: ReportView) -> Iterator[Finding]:
    """An arm under test lacks per-sample stage rows."""
    for arm in view.under_test:
        if not arm.measurements:
            yield Finding(
                f"{arm.name}: no row was measured", arm=arm.name, field="measurements", found="0", allowed="1"
            )
        for row in arm.measurements:
            names = ("prefill_s", "decode_s", "e2e_s", *(("restoration_s",) if restores(arm) else ()))
            lacking = [name for name in names if getattr(row, name) is None]
            if lacking:
                yield row_finding(arm, row, Fault(lacking[0], f"lacks {', '.join(lacking)}", "none", "seconds"))


@evidence_rule(
    "MISSING_RESTORATION_FLAG",
    title="Rows that do not say whether K/V were restored",
    catches="A row of an arm under test without `restoration_active`, but for a peer on another's server.",
    why="Without it nobody can tell a restored run from the native one, and the native one is what ran.",
    fix="Record for each row whether positions were restored, counted where they are written.",
    severity="withheld",
    example=Example(
        bad="rows of an `identity` arm without `restoration_active`",
        good="`restoration_active` true, 12,000 positions restored",
    ),
)
def missing_restoration_flag(view: ReportView) -> Iterator[Finding]:
    """A row of an arm under test lacks the flag."""
    for arm in view.under_test:
        for row in arm.measurements:
            if row.restoration_active is None and not (foreign_peer(view, arm) and arm.served_by and plain(arm)):
                message = "does not say whether K/V were restored"
                yield row_finding(arm, row, Fault("restoration_active", message, "none", "true or false"))


@evidence_rule(
    "MISSING_LIVENESS",
    title="It cannot be told whether a component ran",
    catches="A restoring, evicting or drafting arm whose rows lack the counts (positions, blocks, drafts, per-block "
    "rounds) that would prove it, or an arm under test that does not say which fallbacks it took.",
    why="A flag is an intention. What ran is known from what was counted where the work happened.",
    fix="Count restored and evicted positions, blocks and drafts in the engine, and record every fallback, also none.",
    severity="withheld",
    example=Example(bad="a fused arm whose rows record no blocks", good="rows that list every block"),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def missing_liveness(view: ReportView) -> Iterator[Finding]:
    """A component should have run and the row does not say whether it did."""
    for arm in view.report.arms:
        for row in arm.measurements:
            lacking = list(_untold(view, arm, row))
            if lacking:
                message = f"does not record {', '.join(lacking)}; what ran cannot be told"
                yield row_finding(arm, row, Fault(lacking[0], message, "none", "a count"))


def _untold(view: ReportView, arm: Arm, row: Measurement) -> Iterator[str]:
    """Names of the counts that are missing, for components that are not known to have stood still."""
    restoration, drafting = (
        restores(arm) and did_restore(arm, row) is not False,
        drafts(arm) and did_draft(row) is not False,
    )
    if restoration and row.restoration_active and row.restored_positions is None:
        yield "restored_positions"
    if restores(arm) and row.restoration_active and row.evicted_positions is None:
        yield "evicted_positions"
    if arm.restoration is not None and arm.restoration.mode == "ablate" and row.evicted_positions is None:
        yield "evicted_positions"
    if drafting and did_draft(row) is None:
        yield "speculation.drafted"
    elif drafting and not view.imported and row.speculation is not None and row.speculation.rounds is None:
        yield "speculation.rounds"
    known = row.restoration_active is not None  # else MISSING_RESTORATION_FLAG says that the row tells nothing
    native = not view.imported and arm.name in view.names_under_test and not restores(arm) and not drafts(arm)
    if (restoration or drafting or native) and known and row.fallbacks is None:
        yield "fallbacks"
