"""One ratio from several reports: pooled on each machine, then over machines, where these agree."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from gate.figures.pooling.random_effects import Pooled, Study, pool_machines, pool_runs

ALIKE_LEVEL = 0.1
"""Under this probability of such differences machines disagree. Tests of heterogeneity have little power with few
studies, so 0.1 is customary in place of 0.05 (Cochrane Handbook, chapter 10.10.2)."""


@dataclass(frozen=True)
class Setting:
    """What a ratio is of: preset, its settings without the seed, models, the code that ran, and the claim's name."""

    preset: str
    settings: tuple[str, ...]
    identity: str
    claim: str


@dataclass(frozen=True)
class RunRatio:
    """An admitted ratio of one run. `run` tells it from others, whatever its report calls its machine; `texts` are the
    templates, documents or prompts that the ratio is over."""

    run: str
    setting: Setting
    machine: str
    study: Study
    texts: frozenset[str]


@dataclass(frozen=True)
class OnMachine:
    """The runs of one machine, pooled."""

    machine: str
    pooled: Pooled
    texts: frozenset[str]


@dataclass(frozen=True)
class PooledRatio:
    """One ratio on every machine, and over them. `withheld` says why there is no figure over machines."""

    setting: Setting
    machines: tuple[OnMachine, ...]
    across: Pooled | None
    withheld: str | None


def pool_ratios(runs: Iterable[RunRatio]) -> tuple[PooledRatio, ...]:
    """Pool what is of one setting; settings in the order in which they are first met. A run that is there twice
    counts once, on the machine that it is first met on."""
    found: dict[Setting, dict[str, list[RunRatio]]] = defaultdict(lambda: defaultdict(list))
    seen: set[tuple[str, Setting]] = set()
    for run in runs:
        if (run.run, run.setting) not in seen:
            seen.add((run.run, run.setting))
            found[run.setting][run.machine].append(run)
    return tuple(_over_machines(setting, by_machine) for setting, by_machine in found.items())


def _over_machines(setting: Setting, by_machine: dict[str, list[RunRatio]]) -> PooledRatio:
    machines = tuple(_on_machine(machine, runs) for machine, runs in sorted(by_machine.items()))
    if len(machines) == 1:
        return PooledRatio(setting, machines, None, "one machine")
    studies = [one.pooled.whole for one in machines]
    across = pool_machines(studies, same_prompts=_overlap([one.texts for one in machines]))
    return PooledRatio(setting, machines, across, _against(studies, across))


def _on_machine(machine: str, runs: Sequence[RunRatio]) -> OnMachine:
    texts = [run.texts for run in runs]
    pooled = pool_runs([run.study for run in runs], same_prompts=_overlap(texts))
    return OnMachine(machine, pooled, frozenset().union(*texts))


def _overlap(texts: Sequence[frozenset[str]]) -> bool:
    return any(first & second for first, second in combinations(texts, 2))


def _against(studies: Sequence[Study], across: Pooled) -> str | None:
    """Why the pooled figure is none to print; None if it may be."""
    low, high = zip(*(study.interval for study in studies), strict=True)
    if max(low) > 1 > min(high):
        return "machines disagree: faster on one, slower on another"
    if across.alike < ALIKE_LEVEL:
        return f"machines disagree: Welch's test, p = {across.alike:.2g}"
    bounds = across.whole.interval
    if bounds[0] <= 1 <= bounds[1]:
        return f"its interval over machines [{bounds[0]:.4g}, {bounds[1]:.4g}] contains 1"
    return None
