"""What is seen at a look at an unfinished run, and what is decided then: all of it from the rows, so whoever reads the
report can derive it again. A run that was killed and goes on comes to the same looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gate.claims.against_baseline import ratio_of
from gate.rulebook.report_view import ReportView

if TYPE_CHECKING:
    from gate.figures.statistics.ratio_estimate import RatioEstimate
    from reports.records.measurement import Arm, Measurement
    from reports.records.plan import Decision, Look, Stopping
    from reports.report import Report


def look_after(report: Report, stopping: Stopping, processes: int) -> Look:
    """The look after so many processes; what was measured later is not looked at."""
    from reports.records.plan import Look

    found = list(_ratios(_until(report, stopping, processes)))
    seconds = sum(row.e2e_s or 0.0 for arm in report.arms for row in _all_rows(arm) if row.process < processes)
    width = _widest(one.width if one is not None else None for one in found)
    last = stopping.share_at(stopping.most)
    least = _widest(one.least_width(last) if one is not None else None for one in found)
    return Look(
        processes=processes,
        width=width,
        least=least,
        seconds=seconds,
        decision=decide(stopping, processes, width, least, seconds),
    )


def decide(stopping: Stopping, processes: int, width: float | None, least: float | None, seconds: float) -> Decision:
    """What follows from what was seen: the first reason to stop that holds, or another round."""
    later = [one for one in stopping.planned if one > processes]
    if width is not None and width <= stopping.width:
        return "narrow"
    if not later:
        return "no_more"
    if least is not None and least > stopping.width:
        return "prompts_differ"
    if stopping.budget_s is not None and seconds * later[0] / processes > stopping.budget_s:
        return "budget"
    return "go_on"


def _ratios(view: ReportView) -> Iterable[RatioEstimate | None]:
    """The decode ratio of every arm under test to the oracle."""
    oracle = view.oracle
    if oracle is not None:
        yield from (ratio_of(view, arm, oracle, "decode_speedup") for arm in view.under_test)


def _widest(widths: Iterable[float | None]) -> float | None:
    """The largest; none if there is none, or one is not known."""
    known: list[float] = []
    for width in widths:
        if width is None:
            return None
        known.append(width)
    return max(known, default=None)


def _until(report: Report, stopping: Stopping, processes: int) -> ReportView:
    """The report as it would be if the run had ended there."""
    assert report.plan is not None
    arms = tuple(
        arm.model_copy(update={"measurements": tuple(row for row in arm.measurements if row.process < processes)})
        for arm in report.arms
    )
    plan = report.plan.model_copy(update={"processes": processes, "stopping": stopping})
    return ReportView(report.model_copy(update={"arms": arms, "plan": plan}))


def _all_rows(arm: Arm) -> Iterable[Measurement]:
    """Those that count, warm-ups, and those that a pause fell into."""
    return (*arm.measurements, *(arm.warm_ups or ()), *(paused.row for paused in arm.paused or ()))
