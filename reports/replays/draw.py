"""Which rows a replay runs again: a random sample of all, then one of every kind of arm that the sample missed.

The draw follows from the report's digest and a seed alone, so that whoever reads a replay can derive it again. The
first part is a simple random sample, on which the bound on the share of false rows rests; the second only adds to it.
"""

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from reports.records.conduct.replay import DrawnFrom


class Drawn(NamedTuple):
    """A row by its arm and its place there; `sampled`: in the random sample, not added for its kind."""

    arm: str
    place: int
    sampled: bool


def draw(digest: str, seed: int, asked: int, population: Sequence[DrawnFrom]) -> tuple[Drawn, ...]:
    """The rows drawn with this seed from the report of this digest, in the order of the report."""
    source = random.Random(f"k3 replay {seed} {digest}")
    ends = list(accumulate(one.rows for one in population))
    total = ends[-1]
    sampled = _sample(total, min(asked, total), source)
    reached = {population[bisect_right(ends, place)].kind for place in sampled}
    added: set[int] = set()
    for kind in dict.fromkeys(one.kind for one in population if one.rows):
        if kind not in reached:
            of_kind = [index for index, one in enumerate(population) if one.kind == kind]
            added.add(_one_of(of_kind, population, ends, source))
    return tuple(_drawn(population, ends, place, place in sampled) for place in sorted(sampled | added))


def _sample(total: int, count: int, source: random.Random) -> set[int]:
    """`count` different numbers below `total`, every set of them equally likely (Floyd), by `Random.random` alone:
    Python promises that its numbers stay the same."""
    chosen: set[int] = set()
    for last in range(total - count, total):
        number = int(source.random() * (last + 1))
        chosen.add(last if number in chosen else number)
    return chosen


def _one_of(arms: Sequence[int], population: Sequence[DrawnFrom], ends: Sequence[int], source: random.Random) -> int:
    """One row of these arms, each equally likely; rows are numbered through all arms."""
    number = int(source.random() * sum(population[index].rows for index in arms))
    for index in arms:
        if number < population[index].rows:
            return ends[index] - population[index].rows + number
        number -= population[index].rows
    raise AssertionError("a kind without rows is not drawn from")


def _drawn(population: Sequence[DrawnFrom], ends: Sequence[int], place: int, sampled: bool) -> Drawn:
    index = bisect_right(ends, place)
    return Drawn(population[index].arm, place - ends[index] + population[index].rows, sampled)
