"""Streams that go round in a circle, whose drafts are right for that alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import MIN_DECODE_TOKENS, Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm

LOOPS = Threshold(
    "LOOPS",
    3,
    "rounds",
    meaning="So many times the same tokens in a row at the end of a stream are a loop.",
    source="a choice: code repeats a line with another name in it, not three times the same",
)


@claim_rule(
    "STREAM_LOOPS",
    title="A stream that goes round in a circle",
    catches=f"A claim over a stream whose last {MIN_DECODE_TOKENS.value} tokens or more are {LOOPS.value} or more "
    "rounds of the same, however long the round.",
    why="Every draft of a loop is right: with one of period 35 among six prompts, 3.03x was printed as 3.26x.",
    fix="Ask a prompt that the verifier does not answer in a loop, or for fewer tokens.",
    blocks=(*RATIOS, "acceptance"),
    example=Example(bad="the last 105 tokens are three rounds of 35", good="128 tokens without a round"),
    thresholds=(LOOPS, MIN_DECODE_TOKENS),
    since=4,
)
def stream_loops(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """A stream of the arm ends in a loop."""
    arm = view.arms.get(claim.arm)
    for one in compared_arms(view, claim) or ((arm,) if arm is not None else ()):
        for sample, period in _loops(view, one).items():
            message = f"{one.name}, sample {sample}: the stream ends in a loop of {period} tokens"
            yield Finding(message, one.name, sample, "token_ids", f"a period of {period}", "no loop")


def _loops(view: ReportView, arm: Arm) -> dict[int, int]:
    """The period of every sample of which a stream loops, derived once a report."""
    key = ("loops", arm.name)
    if key not in view.memo:
        streams = {(row.sample, row.token_ids) for row in arm.measurements if row.token_ids is not None}
        found = ((s, loop_at_end(ids, rounds=LOOPS.value, least=MIN_DECODE_TOKENS.value)) for s, ids in sorted(streams))
        view.memo[key] = {sample: period for sample, period in found if period is not None}
    periods: dict[int, int] = view.memo[key]
    return periods


def loop_at_end(tokens: Sequence[int], *, rounds: int, least: int) -> int | None:
    """The shortest period in which the last tokens go round at least `rounds` times, over `least` tokens or more.

    None if they do not.
    """
    size = len(tokens)
    for period in range(1, size // rounds + 1):
        run, long_enough = period, max(rounds * period, least)
        while run < size and tokens[-run - 1] == tokens[period - run - 1]:
            run += 1
        if run >= long_enough:
            return period
    return None
