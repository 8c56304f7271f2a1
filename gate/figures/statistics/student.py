"""Student's t distribution and the tail of Fisher's F, for degrees of freedom that need not be whole. Exact
arithmetic, no table, nothing drawn.

Tails come from the regularised incomplete beta function by its continued fraction (Lentz's method; DLMF 8.17.22).
The tests compare it with scipy.
"""

import math
from functools import lru_cache

SMALLEST = 1e-300
"""Stands for zero where the continued fraction would divide by it."""
STEPS = 300
"""Terms of the fraction; fifteen digits take a few dozen."""


def two_sided_p(t: float, df: float) -> float:
    """Probability of a value at least as far from 0 as `t`, at `df` > 0 degrees of freedom."""
    if math.isinf(t):
        return 0.0
    if abs(t) < 1:
        return 1 - _beta(t * t / (df + t * t), 0.5, df / 2)
    return _beta(df / (df + t * t), df / 2, 0.5)


def f_tail(ratio: float, df: float, df_below: float) -> float:
    """Probability of an F of at least `ratio` >= 0, at `df` > 0 degrees of freedom above and `df_below` > 0 below."""
    if math.isinf(ratio):
        return 0.0
    return _beta(df_below / (df_below + df * ratio), df_below / 2, df / 2)


@lru_cache(maxsize=4096)
def quantile(df: float, tail: float = 0.025) -> float:
    """The t that is exceeded with probability `tail` < 0.5, at `df` > 0 degrees of freedom.

    Newton's steps on the logarithm of t, kept between bounds that close in on it.
    """
    low, high = 0.0, 2.0
    while two_sided_p(high, df) > 2 * tail and high < 1e150:
        low, high = high, high * 4
    t = high
    for _ in range(100):
        gap = two_sided_p(t, df) - 2 * tail
        low, high = (t, high) if gap > 0 else (low, t)
        step = gap / (2 * t * _density(t, df))
        closer = t * math.exp(max(-1.0, min(1.0, step)))
        closer = closer if low < closer < high else (low + high) / 2
        if abs(closer - t) <= 1e-11 * t:
            break
        t = closer
    return t


def _density(t: float, df: float) -> float:
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    return math.exp(log_scale - (df + 1) / 2 * math.log1p(t * t / df))


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, from its first term on."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return total


def _not_zero(value: float) -> float:
    return value if abs(value) > SMALLEST else SMALLEST
