"""Looks at a run to which processes were added: that they are all there, and that the run ended where they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gate.claims.looks import look_after
from gate.claims.recompute import older_intervals
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import FIGURE_TOLERANCE

if TYPE_CHECKING:
    from reports.records.plan import Look, Stopping


@evidence_rule(
    "LOOKS_CONTRADICTED",
    title="Looks that the rows or the plan contradict",
    catches="A run with `--until-width` whose looks are not those that its plan declares, from the first to the one "
    "after its last process; a look whose width, seconds or decision the rows do not give; a run that ended at a look "
    "which says to go on, or went on after one which says to stop.",
    why="Who stops when he likes the figure finds what he likes. Looks that are declared, and all told, make the "
    "interval as wide as so many looks need; one that is hidden makes it too narrow.",
    fix="Let `k3 eval --until-width` decide when to stop, and let it write down the looks. Never begin again because "
    "a width or a figure did not please.",
    example=Example(
        bad="looks after 3 and 6 processes, the first of them left out",
        good="looks after 3 and 6 processes: 0.14 wide, go on; 0.09 wide, narrow enough",
    ),
    thresholds=(FIGURE_TOLERANCE,),
    since=4,
)
def looks_contradicted(view: ReportView) -> Iterator[Finding]:
    """What is recorded of a look is not what the rows give, or a look is missing."""
    plan = view.report.plan
    if plan is None or plan.stopping is None:
        return
    stopping, measured = plan.stopping, plan.processes or 0
    due = [processes for processes in stopping.planned if processes <= measured]
    recorded = [look.processes for look in stopping.looks]
    if recorded != due or not due or due[-1] != measured:
        yield _finding(
            f"looks after {_listed(recorded)} processes, of {measured}; the plan has them after {_listed(due)}",
            _listed(recorded),
            _listed(due),
        )
        return
    for look in stopping.looks:
        yield from _unlike(view, stopping, look)
        ends = look.processes == measured
        if (look.decision == "go_on") == ends:
            went_on = "ended there" if ends else f"went on to {measured}"
            message = f"after {look.processes} processes: the decision is {look.decision}, and the run {went_on}"
            yield _finding(message, look.decision, "go_on" if not ends else "a reason to stop")


def _unlike(view: ReportView, stopping: Stopping, look: Look) -> Iterator[Finding]:
    derived = look_after(view.report, stopping, look.processes)
    if older_intervals(view) and not _same(look.width, derived.width):
        message = f"after {look.processes} processes: the interval of an older rule set decided; measure again"
        yield replace(_finding(message, _shown(look.width), _shown(derived.width)), severity="withheld")
        return
    for name in ("width", "least", "seconds"):
        stated, ours = getattr(look, name), getattr(derived, name)
        if not _same(stated, ours):
            message = f"after {look.processes} processes: {name} is stated as {_shown(stated)}, the rows give "
            yield _finding(message + _shown(ours), _shown(stated), _shown(ours))
    if look.decision != derived.decision:
        message = f"after {look.processes} processes: decided {look.decision}, the rows say {derived.decision}"
        yield _finding(message, look.decision, derived.decision)


def _same(stated: float | None, derived: float | None) -> bool:
    if stated is None or derived is None:
        return stated is derived
    return abs(stated - derived) <= FIGURE_TOLERANCE.value * max(abs(stated), abs(derived))


def _finding(message: str, found: str, allowed: str) -> Finding:
    return Finding(f"plan.stopping: {message}", field="plan.stopping.looks", found=found, allowed=allowed)


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"


def _listed(processes: list[int]) -> str:
    return ", ".join(map(str, processes)) or "no"
