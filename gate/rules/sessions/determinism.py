"""INV-3: the same history gives the same tokens, shown by two histories that were built up in two ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.conduct.smoke import tokens_of
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import SMOKE, Example, Finding

if TYPE_CHECKING:
    from reports.records.conduct.runtime_smoke import SmokeStep


@evidence_rule(
    "SMOKE_DETERMINISM",
    title="A smoke that does not show the same history give the same tokens",
    catches="No two generations after the same history, by the server's digest, that was built up by one append and "
    "by several; or two of which neither stream begins as the other.",
    why="A cache that depends on how a prompt was cut answers well, and differently every day.",
    fix="Run `k3 smoke`, which appends one history at once and token by token. Where streams differ, mend the engine.",
    severity="withheld",
    blocks=SMOKE,
    example=Example(
        bad="the second history is another one", good="one history, at once and token by token, and one stream"
    ),
)
def smoke_determinism(view: ReportView) -> Iterator[Finding]:
    """INV-3 is not shown, or shown not to hold."""
    smoke = view.report.runtime_smoke
    if smoke is None or view.imported:
        return
    by_history: dict[str, list[SmokeStep]] = {}
    for step in smoke.steps:
        if step.history_digest is not None and step.observed == "OK" and tokens_of(step.frames):
            by_history.setdefault(step.history_digest, []).append(step)
    shown = False
    for first, *others in by_history.values():
        for other in others:
            ours, theirs = tokens_of(first.frames), tokens_of(other.frames)
            length = min(len(ours), len(theirs))
            shown |= first.appends != other.appends
            if ours[:length] != theirs[:length]:
                message = f"{other.step}: emits {theirs[:length]}, {first.step} {ours[:length]} after the same history"
                found, allowed = str(theirs[:length])[:100], str(ours[:length])[:100]
                yield Finding(message, field="runtime_smoke.steps.frames", found=found, allowed=allowed)
    if not shown:
        message = "runtime_smoke.steps: no history was built up in two ways, so INV-3 is not shown"
        yield Finding(message, field="runtime_smoke.steps.history_digest", found="0", allowed="1 history in two ways")
