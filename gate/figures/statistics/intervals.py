"""95 % intervals of a share (Wilson) and of a difference of shares (Newcombe).

Pure arithmetic on plain numbers, the same on every machine; nothing is drawn at random.
"""

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    correct: int
    total: int

    @property
    def rate(self) -> float:
        """Correct / total."""
        return self.correct / self.total


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
