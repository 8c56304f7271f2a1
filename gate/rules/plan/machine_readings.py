"""Readings of the machine before and after each process, against the rows that were measured between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from datetime import datetime

    from reports.records.provenance import MachineReading
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
    "without rows; or a process whose rows, warm-ups and paused runs take longer together than its readings are apart. "
    "Readings that go back in time, or a report that was begun, resumed or entered in the run ledger outside of them. "
    "A report with rows of warm-ups and no reading at all.",
    why="Repeats called processes are no other process; an oracle made slower by hand takes time that never passed; "
    "and a report that is dated anew keeps the readings of the day on which it ran.",
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
    if view.imported or not view.report.arms:
        return
    if not readings:
        if any(arm.warm_ups for arm in view.report.arms):
            message = "machine: never read, in a report with rows of warm-ups, which the same runner writes"
            yield Finding(message, field="machine", found="no readings", allowed="one before and after each process")
        return
    yield from _out_of_time(view.report, readings)
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


def _out_of_time(report: Report, readings: Sequence[MachineReading]) -> Iterator[Finding]:
    """Readings stand in the order in which they were made, and the run lies between the first and the last of them."""
    slack = timedelta(seconds=READING_SLACK.value)
    for before, after in pairwise(readings):
        if before.at - after.at > slack:
            message = f"machine: read at {_time(after.at)} after {_time(before.at)}, of process {after.process}"
            yield Finding(message, field="machine.at", found=_time(after.at), allowed=f"from {_time(before.at)} on")
            return
    first, last = readings[0].at, readings[-1].at
    resumes = report.plan.resumes if report.plan is not None else ()
    moments = [("created_at", report.created_at), *(("plan.resumes", one.at) for one in resumes)]
    for field, at in moments:
        if at is not None and not first - slack <= at <= last + slack:
            message = f"{field}: {_time(at)}; the machine was read from {_time(first)} to {_time(last)}"
            yield Finding(message, field=field, found=_time(at), allowed=f"{_time(first)} to {_time(last)}")
    begun = report.run_ledger.begun_at if report.run_ledger is not None else None
    if begun is not None and begun > last + slack:
        message = f"run_ledger.begun_at: {_time(begun)}; the machine was read for the last time at {_time(last)}"
        yield Finding(message, field="run_ledger.begun_at", found=_time(begun), allowed=f"up to {_time(last)}")


def _time(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def _seconds(report: Report) -> dict[int, float]:
    """Seconds of all runs of each process: those that count, warm-ups, and those that a pause fell into, with it."""
    spent: dict[int, float] = defaultdict(float)
    for arm in report.arms:
        for row in (*arm.measurements, *(arm.warm_ups or ())):
            spent[row.process] += row.e2e_s or 0.0
        for paused in arm.paused or ():  # the clock of rows stands still while the machine sleeps
            spent[paused.row.process] += (paused.row.e2e_s or 0.0) + paused.pause.asleep_s
    return spent
