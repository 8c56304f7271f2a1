"""Times that do not scatter: no machine keeps one ratio to five digits over many runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, RowKey, row_key
from gate.rulebook.rule import Example, Finding
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
