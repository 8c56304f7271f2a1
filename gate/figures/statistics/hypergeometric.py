"""How many of all can still be false when a random sample was looked at. Exact, and nothing is drawn."""

import math

ALPHA = 0.05


def most_false(total: int, drawn: int, found: int) -> int:
    """The most false rows among `total` that a sample of `drawn`, `found` of them false, leaves possible at 95 %.

    The upper end of the exact one-sided interval: the largest number at which a sample with so few false ones still has
    a chance of more than 5 % (hypergeometric, drawn without replacement).
    """
    low, high = found, total - (drawn - found)  # what was seen is known
    while low < high:
        middle = (low + high + 1) // 2
        if at_most(total, middle, drawn, found) > ALPHA:
            low = middle
        else:
            high = middle - 1
    return low


def at_most(total: int, false: int, drawn: int, found: int) -> float:
    """Chance that `drawn` rows without replacement hold at most `found` of the `false` ones among `total`."""
    whole = _log_choose(total, drawn)
    least, most = max(0, drawn - (total - false)), min(found, false, drawn)
    terms = (
        _log_choose(false, hit) + _log_choose(total - false, drawn - hit) - whole for hit in range(least, most + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def _log_choose(of: int, count: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
