"""The order of timed runs: within each (sample, repeat) every arm runs, forwards and backwards in turn (ABBA)."""

from collections.abc import Sequence

from harness.plans.plan import ArmPlan
from reports.records.plan import Run


def schedule(arms: Sequence[ArmPlan], samples: int, repeats: int) -> tuple[Run, ...]:
    """All timed runs in order. Repeats are the outer loop, so that a drift of the machine falls on all samples alike.

    An arm with fewer repeats than the run takes part in its first ones only.
    """
    runs: list[Run] = []
    for repeat in range(repeats):
        for sample in range(samples):
            taking_part = [arm for arm in arms if repeat < arm.repeats]
            if (sample + repeat) % 2:
                taking_part.reverse()
            runs += [Run(arm=arm.name, sample=sample, repeat=repeat) for arm in taking_part]
    return tuple(runs)
