"""How an arm's times move over the run: its drift from first to last, and what each run cost a token."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from gate.figures.rates import decode_rate, rate_of
from gate.figures.statistics.median import median

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement

MOST_ROWS = 200
"""Of more rows only evenly spaced ones are compared; pairs grow with the square."""

LARGEST = 700.0
"""Logarithm of the largest factor told; beyond it floats overflow."""

TimedRun = tuple[int, float, int]
"""Place in the run, logarithm of the rate, sample."""


def drift(arm: Arm, metric: str) -> float | None:
    """The factor by which the arm's rate changes from its first run to its last, by a line through the logarithms.

    The slope is the median over pairs of rows (Theil 1950, Sen 1968) of the same sample, so that long and short
    prompts are not compared; where no sample was repeated across a third of the run, over all pairs. None unless
    three rows record order and rate.
    """
    points = _timed_runs(arm, metric)
    if len(points) < 3:
        return None
    span = points[-1][0] - points[0][0]
    pairs = [(a, b) for a, b in combinations(points, 2) if b[0] > a[0]]
    alike = [(a, b) for a, b in pairs if a[2] == b[2]]
    if not any(b[0] - a[0] >= span / 3 for a, b in alike):
        alike = pairs
    if not alike:
        return None
    change = median((b[1] - a[1]) / (b[0] - a[0]) for a, b in alike) * span
    return math.exp(max(-LARGEST, min(LARGEST, change)))


def _timed_runs(arm: Arm, metric: str) -> list[TimedRun]:
    points = []
    for row in arm.measurements:
        rate = rate_of(row, metric)
        if row.order is not None and rate is not None:
            points.append((row.order, math.log(rate), row.sample))
    points.sort()
    return points[:: -(-len(points) // MOST_ROWS)] if points else points


class Cost(NamedTuple):
    """What a run cost a token, in seconds, and the process that it ran in."""

    process: int
    seconds: float


def prefill_costs(arm: Arm) -> list[Cost]:
    """Prefill a prompt token, in the order of the runs; rows that do not record it are left out."""
    return [
        Cost(row.process, row.prefill_s / row.prompt_tokens)
        for row in _in_order(arm.measurements)
        if row.prefill_s is not None and row.prompt_tokens
    ]


def decode_costs(arm: Arm) -> list[Cost]:
    """Decode a token, in the order of the runs; rows that do not record it are left out."""
    rates = [(row.process, decode_rate(row)) for row in _in_order(arm.measurements)]
    return [Cost(process, 1 / rate) for process, rate in rates if rate is not None]


def _in_order(rows: Iterable[Measurement]) -> list[Measurement]:
    """By recorded order; rows without one stay in the order of the file."""
    return sorted(rows, key=lambda row: row.order if row.order is not None else -1)
