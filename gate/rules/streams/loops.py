"""Streams that go round in a circle, whose drafts are right for that alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms
from gate.claims.counted_prompts import ROUNDS, SHORTEST, loop_at_end, without_loops
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm


@claim_rule(
    "STREAM_LOOPS",
    title="A stream that goes round in a circle",
    catches=f"A claim over a stream whose last {SHORTEST} tokens or more are {ROUNDS} or more "
    "rounds of the same, however long the round.",
    why="Every draft of a loop is right: with one of period 35 among six prompts, 3.03x was printed as 3.26x.",
    fix="Find the fault that made the arm loop where the plain model does not; a prompt that the plain model itself "
    "answers in a loop is left out of every arm.",
    blocks=(*RATIOS, "acceptance"),
    example=Example(bad="the last 105 tokens are three rounds of 35", good="128 tokens without a round"),
    since=4,
)
def stream_loops(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """A stream of the arm ends in a loop, and the plain model's answer to that prompt does not."""
    arm = view.arms.get(claim.arm)
    for one in compared_arms(view, claim) or ((arm,) if arm is not None else ()):
        for sample, period in _loops(view, one).items():
            message = f"{one.name}, sample {sample}: the stream ends in a loop of {period} tokens"
            yield Finding(message, one.name, sample, "token_ids", f"a period of {period}", "no loop")


def _loops(view: ReportView, arm: Arm) -> dict[int, int]:
    """The period of every counted sample of which a stream loops, derived once a report."""
    key = ("loops", arm.name)
    if key not in view.memo:
        rows = without_loops(view, arm).measurements
        streams = {(row.sample, row.token_ids) for row in rows if row.token_ids is not None}
        found = ((sample, loop_at_end(ids)) for sample, ids in sorted(streams))
        view.memo[key] = {sample: period for sample, period in found if period is not None}
    periods: dict[int, int] = view.memo[key]
    return periods
