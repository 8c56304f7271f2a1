"""What rows say of restoration: flag, counts, time and mode that fit each other, alike in all rows of an arm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.liveness import did_restore, least_restoration_s
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, evicts, restoration_of, restores
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


@evidence_rule(
    "MIXED_RESTORATION_PATHS",
    title="Restored and native rows in one arm",
    catches="An arm under test of which some rows restored K/V and some did not.",
    why="Its median is of two engines, and the recall of one is lent to the other.",
    fix="Run every row of an arm by the same path; give the other path an arm of its own.",
    example=Example(bad="3 of 5 rows restored, 2 native", good="5 of 5 rows restored"),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def mixed_restoration_paths(view: ReportView) -> Iterator[Finding]:
    """Rows of one arm mix restored and native."""
    for arm in view.under_test:
        told = [did_restore(arm, row) for row in arm.measurements]
        yes, no = told.count(True), told.count(False)
        if yes and no:
            yield Finding(
                f"{arm.name}: {yes} rows ran with restoration and {no} without; all or none must",
                arm=arm.name,
                field="restoration_active",
                found=f"{yes} restored, {no} native",
                allowed=f"{len(told)} of one kind",
            )


@evidence_rule(
    "RESTORATION_COUNTS",
    title="Flag, counts, time and mode of restoration contradict each other",
    catches="A row restored without restoring anything (no positions, or no time for them), with more positions than "
    "were evicted or exist, or in an arm that must not restore (the oracle, the ablated control).",
    why="An ablated control that restores cannot collapse, and a restoration of 5,000 positions in 1 ms is a flag.",
    fix="Record what the engine counted; an arm of mode none or ablate restores nothing.",
    example=Example(
        bad="a row flagged as restored with 0 positions restored", good="a row that restored the positions it evicted"
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def restoration_counts(view: ReportView) -> Iterator[Finding]:
    """What a row says of its restoration cannot all be true."""
    for arm in view.report.arms:
        for row in arm.measurements:
            fault = _contradiction(arm, row) or _too_many_evicted(view, arm, row)
            if fault is not None:
                yield row_finding(arm, row, fault)


def _contradiction(arm: Arm, row: Measurement) -> Fault | None:
    mode = restoration_of(arm).mode
    done, gone, active = row.restored_positions, row.evicted_positions, row.restoration_active
    least = least_restoration_s(arm, row)
    if not restores(arm) and done:
        return Fault("restored_positions", f"restored {done} positions in an arm of mode {mode}", str(done), "0")
    if not restores(arm) and active:
        return Fault("restoration_active", f"says that it restored, in an arm of mode {mode}", "true", "false")
    if done and active is False:
        return Fault("restoration_active", f"restored {done} positions and says that it restored none", "false", "true")
    if done == 0 and active:
        return Fault("restoration_active", "restored 0 positions and says that it restored", "true", "false")
    if done and gone is not None and done > gone:
        return Fault(
            "restored_positions", f"restored {done} positions, {gone} were evicted", str(done), f"at most {gone}"
        )
    if done and row.restoration_s is not None and row.restoration_s <= least:
        message = f"restored {done} positions in {row.restoration_s} s; in under {least:.6f} s nothing was"
        return Fault("restoration_s", message, str(row.restoration_s), f"over {least:.6f}")
    return None


def _too_many_evicted(view: ReportView, arm: Arm, row: Measurement) -> Fault | None:
    gone, layers = row.evicted_positions, view.layers
    if not evicts(arm):
        most = 0
    elif layers is None or row.prompt_tokens is None:
        return None
    else:
        most = layers * (row.prompt_tokens + len(row.token_ids or ()))
    if gone is None or gone <= most:
        return None
    return Fault(
        "evicted_positions", f"evicted {gone} positions, of {most} that could be", str(gone), f"at most {most}"
    )
