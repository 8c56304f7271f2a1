"""The order of runs: complete, balanced, the same for the same seed, and in step with nothing."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reports.schedule import ScheduledArm, schedule

ARMS = [ScheduledArm("oracle", 2), ScheduledArm("again", 2), ScheduledArm("fused", 2), ScheduledArm("needle_free", 1)]


@given(samples=st.integers(1, 9), seed=st.integers(0, 2**31), process=st.integers(0, 4))
def test_every_arm_runs_once_in_every_round_that_it_takes_part_in(samples: int, seed: int, process: int) -> None:
    runs = schedule(ARMS, samples=samples, repeats=2, process=process, seed=seed)
    assert len(set(runs)) == len(runs)
    assert Counter(run.arm for run in runs) == {arm.name: samples * arm.repeats for arm in ARMS}
    assert {run.process for run in runs} == {process}
    rounds = [(run.repeat, run.sample) for run in runs]
    assert rounds == sorted(rounds)


@given(samples=st.integers(1, 6), seed=st.integers(0, 2**31))
def test_of_two_arms_each_runs_first_in_half_of_the_rounds(samples: int, seed: int) -> None:
    runs = schedule(ARMS, samples=samples, repeats=2, process=0, seed=seed)
    place = {(run.arm, run.repeat, run.sample): index for index, run in enumerate(runs)}
    first = sum(place["oracle", r, s] < place["fused", r, s] for r in range(2) for s in range(samples))
    assert first == samples


def test_the_order_follows_from_the_seed_and_the_process() -> None:
    def orders(**changes: int) -> tuple[object, ...]:
        return schedule(ARMS, **{"samples": 6, "repeats": 2, "process": 0, "seed": 42} | changes)

    assert orders() == orders()
    assert orders() != orders(seed=43)
    assert [run.arm for run in orders()] != [run.arm for run in orders(process=1)]  # type: ignore[attr-defined]


def test_the_order_does_not_alternate() -> None:
    runs = schedule(ARMS[:2], samples=40, repeats=1, process=0, seed=1)
    firsts = [runs[index].arm for index in range(0, len(runs), 2)]
    assert 5 < sum(a == b for a, b in pairwise(firsts)) < 34
