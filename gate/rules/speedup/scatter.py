"""Times that no machine gives: one ratio to five digits over many runs, or digits that no clock tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, RowKey, row_key
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.measurement import Arm

LEAST_SPREAD = Threshold(
    "LEAST_SPREAD",
    1e-4,
    "relative distance",
    meaning="Runs of a machine scatter by so much at least.",
    source="quiet machines scatter by 1e-3",
)

MIN_COINCIDENCES = Threshold(
    "MIN_COINCIDENCES",
    5,
    "rows",
    meaning="Times without that scatter that are no chance any more, beside the first of them.",
    source="a choice: each further one by chance is as unlikely as the first",
)


@evidence_rule(
    "TIMES_WITHOUT_NOISE",
    title="Times that were computed from each other",
    catches="An arm that takes the same seconds a token in every row, or whose rows take those of another arm times "
    f"one factor, to within {LEAST_SPREAD.value:g}.",
    why="Rows scaled by a factor keep every sum and every interval in order; only their noise is not of a machine.",
    fix="Measure every row.",
    example=Example(
        bad="an arm whose 15 rows take 1.0100 times the oracle's", good="ratios from 0.97 to 1.04, as machines give"
    ),
    thresholds=(LEAST_SPREAD, MIN_COINCIDENCES),
)
def times_without_noise(view: ReportView) -> Iterator[Finding]:
    """Costs a token agree to more digits than runs do."""
    if view.imported:  # printed with three decimals, or derived from a rate
        return
    costs = {arm.name: _costs(arm) for arm in view.report.arms if 2 * len(arm.measurements) > MIN_COINCIDENCES.value}
    for name, own in costs.items():
        if _coincidences(list(own.values())) >= MIN_COINCIDENCES.value:
            yield _finding(name, f"{name}: {len(own)} rows take the same seconds a token")
    for one, other in combinations(costs, 2):
        ours, theirs = costs[one], costs[other]
        ratios = [_ratio(cost, partner) for key, cost in ours.items() if (partner := theirs.get(key)) is not None]
        if _coincidences(ratios) >= MIN_COINCIDENCES.value:
            yield _finding(other, f"{other}: its times are those of {one} by one factor in {len(ratios)} rows")


Cost = tuple[float, float]
"""Prefill seconds a prompt token, decode seconds a token; 0 where a row does not tell."""


def _costs(arm: Arm) -> dict[RowKey, Cost]:
    return {row_key(row): (_cost(row.prefill_s, row.prompt_tokens), _cost(row.decode_s, row.decode_tokens))
            for row in arm.measurements}  # fmt: skip


def _cost(seconds: float | None, tokens: int | None) -> float:
    return seconds / tokens if seconds is not None and seconds > 0 and tokens else 0.0


def _ratio(ours: Cost, theirs: Cost) -> Cost:
    prefill, decode = (a / b if b else 0.0 for a, b in zip(ours, theirs, strict=True))
    return prefill, decode


def _coincidences(costs: Sequence[Cost]) -> int:
    """How many values repeat the first of their stage, over the stages that do not scatter at all."""
    found = 0
    for stage in (0, 1) if costs else ():
        first = costs[0][stage]
        least = LEAST_SPREAD.value * first
        if first and all(abs(cost[stage] - first) < least for cost in costs):
            found += len(costs) - 1
    return found


def _finding(name: str, message: str) -> Finding:
    return Finding(
        f"{message}, to within {LEAST_SPREAD.value:g}",
        arm=name,
        field="decode_s",
        found=f"a spread under {LEAST_SPREAD.value:g}",
        allowed="times that scatter",
    )


CLOCK_DIGITS = Threshold(
    "CLOCK_DIGITS",
    9,
    "decimals",
    meaning="Of the seconds of a row: nanoseconds.",
    source="the runner's own: it rounds every difference of two readings to them",
)

COARSE_DIGITS = Threshold(
    "COARSE_DIGITS",
    6,
    "decimals",
    meaning="To which no clock of ours is rounded in every row.",
    source="clocks tick in 1 to 100 ns: one reading in ten at most is a whole microsecond",
)

MIN_COARSE_TIMES = Threshold(
    "MIN_COARSE_TIMES",
    20,
    "times",
    meaning="Of a report, all of them coarse, that are no chance any more.",
    source="a choice: at one in ten, a chance of 1e-20",
)


@evidence_rule(
    "TIMES_OF_NO_CLOCK",
    title="Times with digits that no clock tells",
    catches=f"A time of a row with more than {CLOCK_DIGITS.value} decimals, or all times of a report with at most "
    f"{COARSE_DIGITS.value}, where warm-ups are rows. (Until then times were written with all digits of a float.)",
    why="Times that were multiplied have digits to the end; times that were made up have few.",
    fix="Let the runner write the times.",
    example=Example(bad="0.0615283764105 s", good="0.061528376 s"),
    thresholds=(CLOCK_DIGITS, COARSE_DIGITS, MIN_COARSE_TIMES),
    since=8,
)
def times_of_no_clock(view: ReportView) -> Iterator[Finding]:
    """A time is finer than nanoseconds, or all of them are whole microseconds."""
    if view.imported or not any(arm.warm_ups for arm in view.report.arms):
        return
    times, fine = 0, False
    for arm in view.report.arms:
        for row in arm.measurements:
            for name in ("prefill_s", "decode_s", "e2e_s"):
                seconds = getattr(row, name)
                if seconds and round(seconds, CLOCK_DIGITS.value) != seconds:
                    message = f"{name} is {seconds!r} s; clocks are read to {CLOCK_DIGITS.value} decimals"
                    allowed = f"{CLOCK_DIGITS.value} decimals"
                    yield row_finding(arm, row, Fault(name, message, repr(seconds), allowed))
                    return
                times += seconds is not None
                fine = fine or (seconds is not None and round(seconds, COARSE_DIGITS.value) != seconds)
    if times >= MIN_COARSE_TIMES.value and not fine:
        message = f"all {times} times of its rows are whole microseconds; the clocks that K3 reads are finer"
        yield Finding(message, field="decode_s", found=f"all {times}", allowed="a few")
