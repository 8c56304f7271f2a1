"""95 % intervals: of a median of ratios (bootstrap), of a share (Wilson), of a difference of shares (Newcombe).

Pure arithmetic on plain numbers, the same on every machine; nothing is drawn at random.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

Z_95 = 1.959963984540054

TAIL = 0.025
"""Probability left out at either end."""

Groups = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def contains(self, value: float) -> bool:
        """`value` lies in the interval, bounds included."""
        return self.low <= value <= self.high

    def overlaps(self, other: "Estimate") -> bool:
        """The two intervals have a value in common."""
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    correct: int
    total: int

    @property
    def rate(self) -> float:
        """Correct / total."""
        return self.correct / self.total


def median_of_medians(groups: Groups) -> float:
    """Median over groups of the median of each; `groups` and every group hold at least one value."""
    return _median([_median(group) for group in groups])


def bootstrap(groups: Groups) -> Estimate:
    """`median_of_medians` with the percentile interval of a bootstrap that resamples groups, then values in each.

    The bootstrap is taken to its limit of infinitely many resamples, so it needs no seed: a resampled group median
    follows a mixture over the groups, and the median of n of them is an order statistic, whose probabilities are
    binomial (Efron 1979). Where a median lies between two values (an even number), the lower bound is that of the
    lower one and the upper bound that of the upper one, so the interval is never narrower than the drawn one.
    """
    value = median_of_medians(groups)
    low = _lower_bound(groups)
    high = -_lower_bound([[-item for item in group] for group in groups])
    return Estimate(value, min(low, value), max(high, value))


def leave_one_out(groups: Groups) -> tuple[float, float] | None:
    """Smallest and largest `median_of_medians` when any one group is left out; none with a single group.

    They come from leaving out a group above or below the middle.
    """
    if len(groups) < 2:
        return None
    medians = sorted(_median(group) for group in groups)
    middle = len(medians) // 2
    if len(medians) % 2 == 0:
        return medians[middle - 1], medians[middle]
    return (medians[middle - 1] + medians[middle]) / 2, (medians[middle] + medians[middle + 1]) / 2


def _median(values: Sequence[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _lower_bound(groups: Groups) -> float:
    """The 2.5 % point of the (lower) median of resampled (lower) group medians."""
    atoms: list[tuple[float, float]] = []
    for group in groups:
        weights = _order_weights(len(group))
        atoms += zip(sorted(group), weights, strict=True)
    atoms.sort()
    count = len(groups)
    needed = _share_needed(count)
    reached = 0.0
    for value, weight in atoms:
        reached += weight
        if reached / count >= needed:
            return value
    return atoms[-1][0]


@lru_cache(maxsize=256)
def _order_weights(count: int) -> tuple[float, ...]:
    """Probability of each of `count` ascending values to be the lower median of as many draws with replacement."""
    rank = (count + 1) // 2
    reached = [_at_least(rank, count, k / count) for k in range(count + 1)]
    return tuple(after - before for before, after in pairwise(reached))


@lru_cache(maxsize=256)
def _share_needed(count: int) -> float:
    """The share of single draws at or below a value from which on the lower median of `count` is so with `TAIL`."""
    rank = (count + 1) // 2
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _at_least(rank, count, middle) >= TAIL else (middle, high)
    return low


def _at_least(rank: int, count: int, share: float) -> float:
    """Probability that at least `rank` of `count` independent draws fall among `share` of all.

    Terms further than nine standard deviations from the mean are left out, so a row count from a hostile file costs
    its square root.
    """
    if share <= 0.0 or share >= 1.0:
        return float(share >= 1.0)
    mean = count * share
    reach = 9 * math.sqrt(mean * (1 - share)) + 10
    if not mean - reach <= rank <= mean + reach:
        return float(rank < mean)
    log_yes, log_no, log_all = math.log(share), math.log1p(-share), math.lgamma(count + 1)
    return math.fsum(
        math.exp(log_all - math.lgamma(k + 1) - math.lgamma(count - k + 1) + k * log_yes + (count - k) * log_no)
        for k in range(rank, min(count, int(mean + reach)) + 1)
    )


def wilson(share: Share) -> Estimate:
    """Wilson's score interval of a share (Wilson 1927)."""
    n, p, z2 = share.total, share.rate, Z_95 * Z_95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Estimate(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))


def newcombe(first: Share, second: Share) -> Estimate:
    """Interval of first - second by Newcombe's hybrid score method (Newcombe 1998, method 10)."""
    a, b = wilson(first), wilson(second)
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    high = value + math.hypot(a.high - a.value, b.value - b.low)
    return Estimate(value, low, high)


def span(estimate: Estimate) -> str:
    """`[low, high]`, to four digits."""
    return f"[{estimate.low:.4g}, {estimate.high:.4g}]"
