"""Two shares of the same prompts: whether one way recalls more than the other. McNemar's exact test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Discordance:
    """Prompts that only the first way got right, that only the second did, and prompts in all."""

    first_only: int
    second_only: int
    total: int

    @property
    def p(self) -> float:
        """Probability, by chance alone, of so uneven a split of the prompts on which the two differ, or a more uneven
        one, two-sided (McNemar 1947, in its exact binomial form)."""
        differing = self.first_only + self.second_only
        fewer = min(self.first_only, self.second_only)
        log_all = math.lgamma(differing + 1) - differing * math.log(2)
        tail = math.fsum(
            math.exp(log_all - math.lgamma(k + 1) - math.lgamma(differing - k + 1)) for k in range(fewer + 1)
        )
        return min(1.0, 2 * tail)


def discordance(first: Sequence[bool], second: Sequence[bool]) -> Discordance:
    """Compare verdicts prompt by prompt; both hold one a prompt, in the same order.

    Raises:
        ValueError: they are of different lengths.
    """
    pairs = list(zip(first, second, strict=True))
    return Discordance(sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs), len(pairs))
