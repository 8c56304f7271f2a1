"""Times that do not scatter: no machine keeps one ratio to five digits over many runs."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from gate import thresholds
from gate.case import Case, row_key
from gate.derive import rows_by_key
from gate.registry import evidence_rule
from gate.rule import Finding
from reports.measurement import Arm, Measurement

STAGES = ("prefill_s", "decode_s")


@evidence_rule(
    "TIMES_WITHOUT_NOISE",
    title="Times that were computed from each other",
    catches="An arm that takes the same seconds a token in every row, or whose rows take those of another arm times "
    "one factor, to within a ten-thousandth.",
    why="Rows scaled by a factor keep every sum and every interval in order; only their noise is not of a machine.",
    fix="Measure every row.",
)
def times_without_noise(case: Case) -> Iterator[Finding]:
    """Costs a token agree to more digits than runs do."""
    if case.imported:  # printed with three decimals, or derived from a rate
        return
    for arm in case.report.arms:
        own = [_costs(stage, arm.measurements) for stage in STAGES]
        if _coincidences(own) >= thresholds.MIN_COINCIDENCES:
            yield _finding(arm, f"{arm.name}: {len(arm.measurements)} rows take the same seconds a token")
    for one, other in combinations(case.report.arms, 2):
        yield from _between(one, other)


def _between(one: Arm, other: Arm) -> Iterator[Finding]:
    partners = rows_by_key(other)
    pairs = [(row, partner) for row in one.measurements if (partner := partners.get(row_key(row))) is not None]
    ratios = []
    for stage in STAGES:
        ours, theirs = _costs(stage, [row for row, _ in pairs]), _costs(stage, [partner for _, partner in pairs])
        ratios.append([a / b for a, b in zip(ours, theirs, strict=True)] if len(ours) == len(theirs) else [])
    if _coincidences(ratios) >= thresholds.MIN_COINCIDENCES:
        yield _finding(other, f"{other.name}: its times are those of {one.name} by one factor in {len(pairs)} rows")


def _costs(stage: str, rows: Sequence[Measurement]) -> list[float]:
    """Seconds a token of every row; empty unless all rows tell."""
    costs = []
    for row in rows:
        seconds, tokens = getattr(row, stage), row.prompt_tokens if stage == "prefill_s" else row.decode_tokens
        if not seconds or not tokens or seconds < 0:
            return []
        costs.append(seconds / tokens)
    return costs


def _coincidences(stages: Sequence[Sequence[float]]) -> int:
    """How many values repeat an earlier one of their stage, over the stages that do not scatter at all."""
    still = [
        values for values in stages if values and max(values) - min(values) < thresholds.LEAST_SPREAD * min(values)
    ]
    return sum(len(values) - 1 for values in still)


def _finding(arm: Arm, message: str) -> Finding:
    return Finding(
        f"{message}, to within {thresholds.LEAST_SPREAD:g}",
        arm=arm.name,
        field="decode_s",
        found=f"a spread under {thresholds.LEAST_SPREAD:g}",
        allowed="times that scatter",
    )
