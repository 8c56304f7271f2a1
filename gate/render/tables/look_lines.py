"""The looks at a run to which processes were added, in words, a line each."""

from collections.abc import Iterator

from reports.records.plan import Decision, Look, Stopping
from reports.report import Report


def look_lines(report: Report) -> Iterator[str]:
    """Every look: after how many processes, what was seen, what was decided. Nothing of a run without looks."""
    stopping = report.plan.stopping if report.plan is not None else None
    for look in stopping.looks if stopping is not None else ():
        assert stopping is not None
        plural = "es" if look.processes != 1 else ""
        yield f"look after {look.processes} process{plural}: {_seen(look, stopping)}; {_decided(look, stopping)}"


def _seen(look: Look, stopping: Stopping) -> str:
    if look.width is None:
        return "some ratio has no interval"
    return f"the widest interval is {look.width:.3g} of its ratio, {stopping.width:.3g} is wanted"


def _decided(look: Look, stopping: Stopping) -> str:
    words: dict[Decision, str] = {
        "go_on": "so more processes",
        "narrow": "narrow enough",
        "no_more": "and no more processes were planned",
        "budget": f"and another round would exceed the budget of {stopping.budget_s or 0:g} s",
    }
    if look.decision == "prompts_differ":
        least = f"no number of processes makes it narrower than {look.least or 0:.3g}"
        return f"{least}, so much do the prompts differ: ask more kinds of them (`--samples`)"
    return words.get(look.decision, look.decision)
