"""Exact tests of counts: the binomial tail, and McNemar's test of two arms on the same prompts.

Pure arithmetic, the same on every machine; the tests compare it with scipy.
"""

import math


def binomial_tail(successes: int, trials: int, chance: float = 0.5) -> float:
    """Probability of at least so many successes, each trial succeeding with 0 < `chance` < 1."""
    ways = math.lgamma(trials + 1)
    logs = (
        ways
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(chance)
        + (trials - k) * math.log1p(-chance)
        for k in range(successes, trials + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def mcnemar(gained: int, lost: int) -> float:
    """Probability that one arm gains at least so many prompts over another without being better (McNemar 1947, exact).

    `gained` are prompts that only the first arm got right, `lost` those that only the second did. One-sided, since
    what is claimed has a direction.
    """
    return binomial_tail(gained, gained + lost)
