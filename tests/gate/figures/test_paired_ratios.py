import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.paired_ratios import Pair, paired_ratios, prompt_of, ratio_of_totals
from gate.figures.statistics.ratio_estimate import RatioEstimate, estimate_ratio
from reports.records.measurement import Arm
from tests.gate.figures.rows import DIGESTS, arm, row


def pairs_of(ours: Arm, theirs: Arm) -> tuple[Pair, ...]:
    """Pairs of prompts that each are a group of their own."""
    return paired_ratios(ours, theirs, "decode_speedup", {})


def estimate_of(ours: Arm, theirs: Arm) -> RatioEstimate:
    found = estimate_ratio(pair.cell for pair in pairs_of(ours, theirs))
    assert found is not None
    return found


times = st.lists(st.floats(0.01, 100.0), min_size=6, max_size=6)


def test_pairs_are_by_sample_and_repeat_and_know_who_ran_first() -> None:
    ours = arm(row(0, 0, decode_s=0.5, order=0), row(0, 1, decode_s=0.25, order=3), row(1, 0, order=None))
    theirs = arm(row(0, 0, order=1), row(0, 1, order=2), row(2, 0))
    pairs = pairs_of(ours, theirs)
    assert [(pair.sample, pair.repeat, pair.ratio, pair.arm_first) for pair in pairs] == [
        (0, 0, 2.0, True),
        (0, 1, 4.0, False),
    ]


def test_a_key_that_stands_twice_is_ambiguous_and_left_out() -> None:
    doubled = arm(row(0, 0), row(0, 0, decode_s=0.1), row(1, 0))
    assert [pair.sample for pair in pairs_of(doubled, arm(row(0, 0), row(1, 0)))] == [1]
    assert [pair.sample for pair in pairs_of(arm(row(0, 0), row(1, 0)), doubled)] == [1]


def test_a_repeated_prompt_is_one_sample() -> None:
    rows = [row(sample, prompt_digest=DIGESTS[sample // 3]) for sample in range(6)]
    assert prompt_of(rows) == {0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 3}
    assert estimate_of(arm(*rows), arm(*rows)).groups == 2


def test_without_digests_samples_that_cannot_be_told_apart_are_one() -> None:
    same = [row(sample, prompt_digest=None, token_ids=(5, 6)) for sample in range(3)]
    other = [row(3, prompt_digest=None, token_ids=(5, 7)), row(4, prompt_digest=None, token_ids=None)]
    assert len(set(prompt_of([*same, *other]).values())) == 3


def test_the_ratio_is_the_geometric_mean_of_the_medians_of_prompts() -> None:
    speeds = {(0, 0): 1.0, (0, 1): 1.1, (0, 2): 9.0, (1, 0): 2.0, (1, 1): 2.0, (1, 2): 2.0}
    ours = arm(*(row(*key, decode_s=1 / speed) for key, speed in speeds.items()))
    theirs = arm(*(row(*key) for key in speeds))
    assert estimate_of(ours, theirs).value == pytest.approx((1.1 * 2.0) ** 0.5)


def test_processes_are_paired_with_themselves() -> None:
    ours = arm(row(0, process=0, decode_s=0.5), row(0, process=1, decode_s=0.25))
    theirs = arm(row(0, process=1), row(0, process=0))
    assert [(pair.process, pair.ratio) for pair in pairs_of(ours, theirs)] == [(0, 2.0), (1, 4.0)]


def test_prompts_know_their_group() -> None:
    rows = [row(sample) for sample in range(4)]
    pairs = paired_ratios(arm(*rows), arm(*rows), "decode_speedup", {0: "a", 1: "b", 2: "a"})
    assert [pair.group for pair in pairs] == ["a", "b", "a", "prompt 3"]


def test_the_ratio_of_totals_is_what_a_user_waits_for() -> None:
    """A prompt on which the arm is slow weighs as much as the time it takes."""
    ours = arm(row(0, decode_s=0.1), row(1, decode_s=4.0))
    theirs = arm(row(0, decode_s=1.0), row(1, decode_s=2.0), row(2, decode_s=50.0))
    assert ratio_of_totals(ours, theirs, "decode_speedup") == pytest.approx(3.0 / 4.1)
    assert ratio_of_totals(ours, arm(row(5)), "decode_speedup") is None
    assert ratio_of_totals(arm(row(0, decode_s=None)), theirs, "decode_speedup") is None


@given(times, times, st.randoms(use_true_random=False))
def test_the_estimate_does_not_depend_on_the_order_of_rows(
    ours: list[float], theirs: list[float], rng: random.Random
) -> None:
    keys = [(sample, repeat) for sample in range(3) for repeat in range(2)]
    first = [row(*key, decode_s=seconds) for key, seconds in zip(keys, ours, strict=True)]
    second = [row(*key, decode_s=seconds) for key, seconds in zip(keys, theirs, strict=True)]
    expected = estimate_of(arm(*first), arm(*second))
    rng.shuffle(first)
    rng.shuffle(second)
    assert estimate_of(arm(*first), arm(*second)) == expected


@given(times, times)
def test_a_slower_clock_for_both_arms_changes_nothing(ours: list[float], theirs: list[float]) -> None:
    def estimate(factor: float) -> tuple[float, float, float]:
        found = estimate_of(
            arm(*(row(i, decode_s=seconds * factor) for i, seconds in enumerate(ours))),
            arm(*(row(i, decode_s=seconds * factor) for i, seconds in enumerate(theirs))),
        )
        return found.value, found.low, found.high

    assert estimate(4.0) == pytest.approx(estimate(1.0))
