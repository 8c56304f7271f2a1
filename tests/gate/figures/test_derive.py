"""Figures from rows: pairing, distinct prompts, recall, acceptance, bytes."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.acceptance import acceptance_of
from gate.figures.intervals import Share
from gate.figures.kv_memory import kv_bytes, kv_saving
from gate.figures.paired_ratios import by_prompt, one_prompt_left_out, paired_ratios, prompt_of, ratio_estimate
from gate.figures.prompt_shares import recall_at_most, recall_of, token_identity
from gate.figures.rates import decode_rate, e2e_rate, median_of, prefill_seconds_a_token
from gate.rulebook.report_view import decode_loops
from reports.records.measurement import Arm, Block, Measurement, Role, Speculation

DIGESTS = tuple("sha256:" + f"{index:064x}" for index in range(10))


def row(sample: int, repeat: int = 0, **fields: object) -> Measurement:
    """A row of ten decode tokens in one second."""
    base: dict[str, object] = {
        "sample": sample,
        "repeat": repeat,
        "prompt_digest": DIGESTS[sample % 10],
        "decode_tokens": 10,
        "decode_s": 1.0,
        "e2e_s": 2.0,
        "prefill_s": 1.0,
        "prompt_tokens": 100,
    }
    return Measurement.model_validate(base | fields)


def arm(*rows: Measurement, name: str = "arm", role: Role = "sut") -> Arm:
    """An arm with these rows."""
    return Arm(name=name, role=role, engine="ar", measurements=rows)


def test_rates_need_tokens_and_seconds() -> None:
    assert decode_rate(row(0)) == 10.0
    assert decode_rate(row(0, decode_s=0.0)) is None
    assert decode_rate(row(0, decode_s=-1.0)) is None
    assert decode_rate(row(0, decode_tokens=None)) is None
    assert e2e_rate(row(0, token_ids=tuple(range(11)))) == 5.5
    assert e2e_rate(row(0, e2e_s=None)) is None


def test_pairs_are_by_sample_and_repeat_and_know_who_ran_first() -> None:
    ours = arm(row(0, 0, decode_s=0.5, order=0), row(0, 1, decode_s=0.25, order=3), row(1, 0, order=None))
    theirs = arm(row(0, 0, order=1), row(0, 1, order=2), row(2, 0))
    pairs = paired_ratios(ours, theirs)
    assert [(pair.sample, pair.repeat, pair.ratio, pair.arm_first) for pair in pairs] == [
        (0, 0, 2.0, True),
        (0, 1, 4.0, False),
    ]


def test_a_key_that_stands_twice_is_ambiguous_and_left_out() -> None:
    doubled = arm(row(0, 0), row(0, 0, decode_s=0.1), row(1, 0))
    assert [pair.sample for pair in paired_ratios(doubled, arm(row(0, 0), row(1, 0)))] == [1]
    assert [pair.sample for pair in paired_ratios(arm(row(0, 0), row(1, 0)), doubled)] == [1]


def test_no_pair_no_estimate() -> None:
    assert ratio_estimate(()) is None
    assert one_prompt_left_out(()) is None


def test_a_repeated_prompt_is_one_sample() -> None:
    rows = [row(sample, prompt_digest=DIGESTS[sample // 3]) for sample in range(6)]
    assert prompt_of(rows) == {0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 3}
    pairs = paired_ratios(arm(*rows), arm(*rows))
    assert [len(group) for group in by_prompt(pairs)] == [3, 3]


def test_without_digests_samples_that_cannot_be_told_apart_are_one() -> None:
    same = [row(sample, prompt_digest=None, token_ids=(5, 6)) for sample in range(3)]
    other = [row(3, prompt_digest=None, token_ids=(5, 7)), row(4, prompt_digest=None, token_ids=None)]
    assert len(set(prompt_of([*same, *other]).values())) == 3


def test_the_ratio_is_the_median_of_medians() -> None:
    speeds = {(0, 0): 1.0, (0, 1): 1.1, (0, 2): 9.0, (1, 0): 2.0, (1, 1): 2.0, (1, 2): 2.0}
    ours = arm(*(row(*key, decode_s=1 / speed) for key, speed in speeds.items()))
    theirs = arm(*(row(*key) for key in speeds))
    found = ratio_estimate(paired_ratios(ours, theirs))
    assert found is not None
    assert found.value == pytest.approx((1.1 + 2.0) / 2)
    assert one_prompt_left_out(paired_ratios(ours, theirs)) == pytest.approx((1.1, 2.0))


times = st.lists(st.floats(0.01, 100.0), min_size=6, max_size=6)


@given(times, times, st.randoms(use_true_random=False))
def test_the_estimate_does_not_depend_on_the_order_of_rows(
    ours: list[float], theirs: list[float], rng: random.Random
) -> None:
    keys = [(sample, repeat) for sample in range(3) for repeat in range(2)]
    first = [row(*key, decode_s=seconds) for key, seconds in zip(keys, ours, strict=True)]
    second = [row(*key, decode_s=seconds) for key, seconds in zip(keys, theirs, strict=True)]
    expected = ratio_estimate(paired_ratios(arm(*first), arm(*second)))
    rng.shuffle(first)
    rng.shuffle(second)
    assert ratio_estimate(paired_ratios(arm(*first), arm(*second))) == expected


@given(times, times)
def test_a_slower_clock_for_both_arms_changes_nothing(ours: list[float], theirs: list[float]) -> None:
    def estimate(factor: float) -> tuple[float, float, float]:
        pairs = paired_ratios(
            arm(*(row(i, decode_s=seconds * factor) for i, seconds in enumerate(ours))),
            arm(*(row(i, decode_s=seconds * factor) for i, seconds in enumerate(theirs))),
        )
        found = ratio_estimate(pairs)
        assert found is not None
        return found.value, found.low, found.high

    assert estimate(4.0) == pytest.approx(estimate(1.0))


def test_recall_counts_prompts_that_every_repeat_recalled() -> None:
    rows = [row(0, 0, correct=True), row(0, 1, correct=False), row(1, 0, correct=True), row(1, 1, correct=True)]
    assert recall_of(arm(*rows)) == Share(1, 2)
    assert recall_at_most(arm(*rows), {0, 1}) == Share(2, 2)
    assert recall_at_most(arm(*rows), {0}) == Share(1, 1)
    assert recall_at_most(arm(*rows), {7}) is None


def test_recall_of_a_prompt_asked_under_two_numbers_counts_once() -> None:
    rows = [row(0, correct=True), row(1, correct=True, prompt_digest=DIGESTS[0])]
    assert recall_of(arm(*rows)) == Share(1, 1)


def test_recall_with_an_unscored_row_is_unknown() -> None:
    assert recall_of(arm(row(0, correct=True), row(1, correct=None))) is None
    assert recall_of(arm()) is None


def test_token_identity_counts_rows_and_needs_every_stream() -> None:
    ours = arm(row(0, token_ids=(1, 2)), row(1, token_ids=(1, 3)))
    theirs = arm(row(0, token_ids=(1, 2)), row(1, token_ids=(1, 2)))
    assert token_identity(ours, theirs) == Share(1, 2)
    assert token_identity(ours, arm(row(0, token_ids=(1, 2)))) is None
    assert token_identity(arm(row(0)), theirs) is None


def spoken(*blocks: tuple[int, int, int]) -> Speculation:
    """Rounds of (drafted, accepted, committed)."""
    rounds = tuple(
        Block(
            drafted=drafted, accepted=accepted, committed=committed, draft_s=0.1, verify_s=0.1, extend_s=0.0,
            rollback_s=0.0, seconds=0.2,
        )
        for drafted, accepted, committed in blocks
    )  # fmt: skip
    return Speculation(rounds=rounds)


def test_acceptance_is_three_figures_of_all_rounds() -> None:
    found = acceptance_of(
        arm(row(0, speculation=spoken((4, 2, 3), (4, 4, 5), (0, 0, 1))), row(1, speculation=spoken((2, 0, 1))))
    )
    assert found is not None
    assert found.rate == pytest.approx(6 / 10)
    assert found.committed_per_block == pytest.approx(10 / 4)
    assert found.by_position == pytest.approx((2 / 3, 2 / 3, 1 / 2, 1 / 2))


def test_acceptance_is_unknown_where_a_row_lacks_its_rounds_or_nothing_was_drafted() -> None:
    assert acceptance_of(arm(row(0, speculation=spoken((4, 2, 3))), row(1))) is None
    assert acceptance_of(arm(row(0, speculation=spoken((0, 0, 1))))) is None
    assert acceptance_of(arm()) is None


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=30))
def test_acceptance_by_position_falls_and_adds_up(blocks: list[tuple[int, int]]) -> None:
    rounds = [(drafted, min(accepted, drafted), min(accepted, drafted) + 1) for drafted, accepted in blocks]
    found = acceptance_of(arm(row(0, speculation=spoken(*rounds))))
    if found is None:
        assert all(drafted == 0 for drafted, _ in blocks)
        return
    assert len(found.by_position) == max(drafted for drafted, _ in blocks)
    reached = [sum(drafted > i for drafted, _, _ in rounds) for i in range(len(found.by_position))]
    kept = sum(share * count for share, count in zip(found.by_position, reached, strict=True))
    assert kept == pytest.approx(sum(accepted for _, accepted, _ in rounds))


def test_kv_bytes_are_the_larger_of_both_stages_and_need_both() -> None:
    assert kv_bytes(row(0, kv_bytes_prefill=10, kv_bytes_decode=20)) == 20
    assert kv_bytes(row(0, kv_bytes_decode=20)) is None
    assert kv_bytes(row(0, kv_bytes_prefill=10)) is None


def test_kv_saving_is_the_median_over_pairs_and_needs_all_of_them() -> None:
    full = arm(*(row(i, kv_bytes_prefill=100, kv_bytes_decode=100) for i in range(3)))
    small = arm(*(row(i, kv_bytes_prefill=bytes_, kv_bytes_decode=10) for i, bytes_ in enumerate((10, 20, 60))))
    assert kv_saving(small, full) == pytest.approx(0.8)
    assert kv_saving(small, arm(*full.measurements[:2])) is None
    assert kv_saving(arm(row(0)), full) is None


def test_loops_are_those_of_the_rows_and_of_the_arm_only_where_rows_are_silent() -> None:
    said = arm(row(0, decode_loop="plain"), row(1)).replace(decode_loop="generate_step")
    assert decode_loops(said) == {"plain", "generate_step"}
    assert decode_loops(arm()) == {None}


def test_prefill_is_by_prompt_token_and_needs_every_row() -> None:
    assert prefill_seconds_a_token(arm(row(0), row(1, prompt_tokens=200))) == [0.01, 0.005]
    assert prefill_seconds_a_token(arm(row(0), row(1, prefill_s=None))) is None
    hiccup = arm(row(0), row(0, repeat=1, prefill_s=50.0), row(0, repeat=2), row(1))
    assert prefill_seconds_a_token(hiccup) == [0.01, 0.01]
    assert prefill_seconds_a_token(arm()) is None


def test_a_median_with_an_unknown_value_is_unknown() -> None:
    assert median_of([1, 3, 2]) == 2
    assert median_of([1, None]) is None
    assert median_of([]) is None
