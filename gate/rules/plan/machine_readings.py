"""Readings of the machine before and after each process, against the rows that were measured between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.report import Report

READING_SLACK = Threshold(
    "READING_SLACK",
    2.0,
    "s",
    meaning="By which the rows of a process may exceed the time between its readings.",
    source="readings are in whole seconds; loading and audits, which fall between them too, take longer",
)


@evidence_rule(
    "MACHINE_CONTRADICTED",
    title="Rows that do not fit between the readings of the machine",
    catches="A report with readings of the machine that has none before a process with rows, or one of a process "
    "without rows; or a process whose rows, warm-ups and paused runs take longer together than its readings are apart.",
    why="Repeats called processes are no other process; an oracle made slower by hand takes time that never passed.",
    fix="Let the runner write readings and rows.",
    severity="withheld",
    example=Example(
        bad="rows of 3 processes, readings before 1 of them",
        good="rows of 3 processes, 30 s each, and 39 s between the readings around each",
    ),
    thresholds=(READING_SLACK,),
    since=7,
)
def machine_contradicted(view: ReportView) -> Iterator[Finding]:
    """Processes or times of the rows are not those of the readings."""
    readings = view.report.machine
    if not readings or view.imported or not view.report.arms:
        return
    spent = _seconds(view.report)
    begun = {one.process for one in readings if one.moment == "before"}
    if begun != spent.keys():
        found, wanted = (", ".join(map(str, sorted(processes))) or "none" for processes in (begun, spent))
        message = f"machine: read before processes {found}; there are rows of {wanted}"
        yield Finding(message, field="machine.process", found=found, allowed=wanted)
    for process, seconds in sorted(spent.items()):
        starts, ends = (
            [one.at for one in readings if (one.process, one.moment) == (process, moment)]
            for moment in ("before", "after")
        )
        between = (max(ends) - min(starts)).total_seconds() if starts and ends else seconds
        if seconds > between + READING_SLACK.value:
            message = f"machine: rows of process {process} take {seconds:.4g} s, its readings are {between:g} s apart"
            yield Finding(message, field="machine.at", found=f"{seconds:.4g}", allowed=f"at most {between:g}")


def _seconds(report: Report) -> dict[int, float]:
    """Seconds of all runs of each process: those that count, warm-ups, and those that a pause fell into, with it."""
    spent: dict[int, float] = defaultdict(float)
    for arm in report.arms:
        for row in (*arm.measurements, *(arm.warm_ups or ())):
            spent[row.process] += row.e2e_s or 0.0
        for paused in arm.paused or ():  # the clock of rows stands still while the machine sleeps
            spent[paused.row.process] += (paused.row.e2e_s or 0.0) + paused.pause.asleep_s
    return spent
