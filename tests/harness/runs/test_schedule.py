"""The order of runs: interleaved, alternating, complete."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.plans.plan import make_plan
from harness.plans.preset_file import load_preset
from harness.runs.schedule import schedule


@given(samples=st.integers(1, 8), repeats=st.integers(1, 5))
def test_every_arm_runs_once_in_every_sample_and_repeat(samples: int, repeats: int) -> None:
    plan = make_plan(load_preset("demo", [f"samples={samples}", f"repeats={repeats}"]))
    runs = schedule(plan.arms, samples, repeats)
    assert len(set(runs)) == len(runs)
    counted = Counter(run.arm for run in runs)
    assert counted == {arm.name: samples * arm.repeats for arm in plan.arms}


@given(samples=st.integers(2, 8), repeats=st.integers(1, 5))
def test_within_a_round_the_order_alternates(samples: int, repeats: int) -> None:
    plan = make_plan(load_preset("demo", [f"samples={samples}", f"repeats={repeats}"]))
    rounds: dict[tuple[int, int], list[str]] = {}
    for run in schedule(plan.arms, samples, repeats):
        rounds.setdefault((run.repeat, run.sample), []).append(run.arm)
    for (repeat, sample), arms in rounds.items():
        assert arms == rounds[repeat, 0][:: 1 if sample % 2 == 0 else -1]
    firsts = {arms.index("oracle") < arms.index("identity") for arms in rounds.values()}
    assert firsts == {True, False}
