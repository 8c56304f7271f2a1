"""The order of timed runs: in every round (a prompt, once) each arm runs, in a random order that is balanced.

Orders come in pairs, a random one and its reverse, and the pairs' halves are shuffled over the rounds. So each of two
arms runs before the other equally often, and no disturbance of the machine keeps step with the order, as one with the
period of two rounds does with forwards and backwards in turn (ABBA). The order follows from the seed alone, so that
whoever reads a report can derive it again.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from reports.records.plan import Run

Item = TypeVar("Item")


class ScheduledArm(NamedTuple):
    """An arm with its repeats a process; one with fewer than the plan takes part in the first ones only."""

    name: str
    repeats: int


def schedule(arms: Sequence[ScheduledArm], *, samples: int, repeats: int, process: int, seed: int) -> tuple[Run, ...]:
    """All timed runs of one process, in order.

    Repeats are the outer loop, so that a drift of the machine falls on all samples alike.
    """
    draw = random.Random(f"k3 order {seed} {process}")
    orders = _balanced_orders(len(arms), samples * repeats, draw)
    return tuple(
        Run(arm=arms[index].name, sample=sample, repeat=repeat, process=process)
        for (repeat, sample), order in zip(
            ((r, s) for r in range(repeats) for s in range(samples)), orders, strict=True
        )
        for index in order
        if repeat < arms[index].repeats
    )


def _balanced_orders(arms: int, rounds: int, draw: random.Random) -> list[tuple[int, ...]]:
    orders: list[tuple[int, ...]] = []
    while len(orders) < rounds:
        order = _shuffled(range(arms), draw)
        orders += [order, order[::-1]]
    return list(_shuffled(orders[:rounds], draw))


def _shuffled(items: Sequence[Item], draw: random.Random) -> tuple[Item, ...]:
    """Fisher and Yates's shuffle, on `Random.random` alone: Python promises that its numbers stay the same."""
    left = list(items)
    for last in range(len(left) - 1, 0, -1):
        chosen = int(draw.random() * (last + 1))
        left[last], left[chosen] = left[chosen], left[last]
    return tuple(left)
