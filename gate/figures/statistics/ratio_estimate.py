"""The ratio of two arms and its 95 % interval: a geometric mean over groups of prompts and over processes.

The unit is the logarithm of a prompt's ratio in one process (the median of its paired repeats). Prompts of one group
(template, document) say much the same, so their mean counts once. Groups are drawn from the kinds of text there are,
and processes from the runs that could be made: both vary at random, and every group is run in every process. So the
variance of the mean is that of a two-way crossed random-effects model (Searle, Casella, McCulloch 1992, chapter 4), in
which neither groups nor processes can vary by less than nothing:

    V = (max(MS_groups, MS_rest) + MS_processes - MS_rest) / (G P)   where processes show: MS_processes > MS_rest,
    V = MS_groups / (G P)                                            where they do not.

The interval is Student's t. Where processes do not show, it is the plain t interval over groups, with G - 1 degrees of
freedom. Where they do, it has the degrees of freedom that Satterthwaite (1946) gives a combination of mean squares,

    (V G P)^2 / (MS_groups^2 / (G - 1) + MS_processes^2 / (P - 1) + MS_rest^2 / ((G - 1) (P - 1))),

but never fewer than min(G, P) - 1, the number that is used for errors clustered both ways (Cameron, Gelbach, Miller
2011): of a difference that is near 0 Satterthwaite makes far too few (Gaylor and Hopper 1969).

With one process, V is the variance of the groups' means over G; what another process would say is then not in it.
Exact and seedless; `scripts/method.py` simulates it.

More processes narrow it as far as processes and noise made it wide. What is left, (MS_groups - MS_rest) / (G P), is how
much groups differ, and only more of them narrow that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gate.figures.statistics.median import median
from gate.figures.statistics.student import quantile, two_sided_p

TAIL = 0.025
"""Probability left out at either end of an interval."""


NULL_LEVEL = 0.01
"""Probability by chance alone under which the oracle differs from itself: one report in a hundred."""


ROUNDING = 1e-9
"""Share by which two equal mean squares may differ; else rounding decides, and otherwise for the ratio turned round."""


class PairedRepeat(NamedTuple):
    """One paired repeat: the ratio of two rates of one prompt, measured in one process."""

    group: str
    prompt: int
    process: int
    ratio: float


@dataclass(frozen=True)
class RatioEstimate:
    """A ratio (`value`), its 95 % interval, and the probability of it (`p`) where there is no difference. `error` is
    the standard error of its logarithm that the interval shows, with `df` degrees of freedom.

    With fewer than two groups there is no spread to be seen: nothing is ruled out, and `p` is 1. Of one look of several
    the interval is wider, and `error` and `p` are larger, so that they hold whenever it was stopped (`share`, see
    `Stopping`), and so does what is pooled from them.
    `of_groups` is the part of the variance that no number of processes takes away; none where one process cannot tell.
    `leave_one_out` are the smallest and the largest ratio when any one group is left out.
    """

    value: float
    low: float
    high: float
    p: float
    groups: int
    prompts: int
    processes: int
    error: float = math.inf
    df: float = 0.0
    of_groups: float | None = None
    leave_one_out: tuple[float, float] | None = None

    @property
    def bounded(self) -> bool:
        """There is an interval."""
        return self.groups > 1

    @property
    def width(self) -> float | None:
        """Of the interval, over the ratio; none without an interval."""
        return (self.high - self.low) / self.value if self.bounded else None

    def least_width(self, share: float) -> float | None:
        """The width with no end of processes, of the same prompts, at a look of this share."""
        if self.of_groups is None:
            return None
        return 2 * math.sinh(min(700.0, quantile(self.groups - 1, TAIL * share) * math.sqrt(self.of_groups)))

    def contains(self, ratio: float) -> bool:
        """The interval holds `ratio`, bounds included."""
        return self.low <= ratio <= self.high

    def overlaps(self, other: RatioEstimate) -> bool:
        """The two intervals have a ratio in common."""
        return self.low <= other.high and other.low <= self.high

    def beyond(self, null: RatioEstimate) -> bool:
        """The effect is larger than what the run makes of the oracle against itself (`null`, A/A).

        A null ratio that scatters around 1 says no more than the interval does. Only one that differs from 1 itself is
        a disturbance that falls on some arms more than on others; then an effect must leave its whole interval.
        """
        if null.p > NULL_LEVEL:
            return True
        return abs(math.log(self.value)) > max(abs(math.log(null.low)), abs(math.log(null.high)))


def estimate_ratio(cells: Iterable[PairedRepeat], share: float = 1.0) -> RatioEstimate | None:
    """The estimate from all paired repeats; none if there are none. `share` is less than 1 at one look of several.

    Groups that were not run in every process are left out, since what a process is worth is told by the same prompts.
    """
    table, prompts = _group_means(cells)
    if not table:
        return None
    means = [_mean(row) for row in table]
    mean = _mean(means)
    groups, processes = len(table), len(table[0])
    if groups < 2:
        return RatioEstimate(_exp(mean), 0.0, math.inf, 1.0, groups, prompts, processes)
    variance, df, of_groups = _variance(table)
    plain = math.sqrt(variance)
    p = min(1.0, two_sided_p(mean / plain, df) / share) if plain > 0 else float(mean == 0)
    half = quantile(df, TAIL * share) * plain
    error = half / quantile(df, TAIL)
    bounds = _exp(mean - half), _exp(mean + half)
    without_one = _leave_one_out(means)
    return RatioEstimate(_exp(mean), *bounds, p, groups, prompts, processes, error, df, of_groups, without_one)


def span(estimate: RatioEstimate) -> str:
    """The interval as messages show it."""
    return f"[{estimate.low:.4g}, {estimate.high:.4g}]"


def _leave_one_out(means: Sequence[float]) -> tuple[float, float]:
    total = math.fsum(means)
    rest = [(total - mean) / (len(means) - 1) for mean in means]
    return _exp(min(rest)), _exp(max(rest))


def _group_means(cells: Iterable[PairedRepeat]) -> tuple[list[list[float]], int]:
    """Mean log ratio by group (rows) and process (columns), and the number of prompts in it.

    A prompt counts in a process by the median of its repeats there.
    """
    repeats: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    for cell in cells:
        repeats[cell.group, cell.prompt, cell.process].append(math.log(cell.ratio))
    by_group: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    prompts: dict[str, set[int]] = defaultdict(set)
    for (group, prompt, process), logs in repeats.items():
        by_group[group][process].append(median(logs))
        prompts[group].add(prompt)
    processes = sorted({process for runs in by_group.values() for process in runs})
    whole = [group for group in sorted(by_group) if len(by_group[group]) == len(processes)]
    table = [[_mean(by_group[group][process]) for process in processes] for group in whole]
    return table, sum(len(prompts[group]) for group in whole)


def _variance(table: Sequence[Sequence[float]]) -> tuple[float, float, float | None]:
    """Variance of the grand mean of a groups x processes table, its degrees of freedom, and what groups make of it."""
    groups, processes = len(table), len(table[0])
    rows = [_mean(row) for row in table]
    mean = _mean(rows)
    of_groups = processes * math.fsum((row - mean) ** 2 for row in rows) / (groups - 1)
    if processes == 1:
        return of_groups / groups, groups - 1, None
    columns = [_mean(column) for column in zip(*table, strict=True)]
    of_processes = groups * math.fsum((column - mean) ** 2 for column in columns) / (processes - 1)
    rest_df = (groups - 1) * (processes - 1)
    of_rest = (
        math.fsum(
            (value - row - column + mean) ** 2
            for row, values in zip(rows, table, strict=True)
            for column, value in zip(columns, values, strict=True)
        )
        / rest_df
    )
    cells = groups * processes
    only_of_groups = max(0.0, of_groups - of_rest) / cells
    if of_processes <= of_rest * (1 + ROUNDING):  # processes do not show
        return of_groups / cells, groups - 1, only_of_groups
    total = max(of_groups, of_rest) + of_processes - of_rest
    spread = of_groups**2 / (groups - 1) + of_processes**2 / (processes - 1) + of_rest**2 / rest_df
    return total / cells, max(total**2 / spread, min(groups, processes) - 1), only_of_groups


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _exp(value: float) -> float:
    return math.exp(max(-700.0, min(700.0, value)))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values (Holm 1979): together, the chance of any false claim stays at the level they are held to."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for place, index in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = reached
    return tuple(adjusted)
