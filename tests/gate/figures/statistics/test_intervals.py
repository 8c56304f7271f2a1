"""Intervals: against a drawn bootstrap, against published values, and their invariants."""

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.statistics.intervals import (
    Estimate,
    Share,
    bootstrap,
    leave_one_out,
    median_of_medians,
    newcombe,
    wilson,
)

ratio = st.floats(0.05, 20.0, allow_nan=False)
groups = st.lists(st.lists(ratio, min_size=1, max_size=5), min_size=1, max_size=9)


def drawn(values: list[list[float]], resamples: int = 60_000) -> tuple[float, float]:
    """The percentile interval of a drawn bootstrap over groups of one size."""
    rng = np.random.default_rng(7)
    table = np.array(values)
    count, repeats = table.shape
    samples = rng.integers(0, count, (resamples, count))
    picks = rng.integers(0, repeats, (resamples, count, repeats))
    medians = np.median(np.median(table[samples[:, :, None], picks], axis=2), axis=1)
    low, high = np.quantile(medians, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)


@pytest.mark.parametrize(("count", "repeats"), [(5, 1), (5, 3), (7, 3), (9, 5), (21, 3)])
def test_bootstrap_is_the_limit_of_a_drawn_one(count: int, repeats: int) -> None:
    rng = random.Random(f"{count}/{repeats}")
    values = [
        [rng.lognormvariate(0.4, 0.1) * base for _ in range(repeats)]
        for base in [rng.lognormvariate(0, 0.2) for _ in range(count)]
    ]
    exact, (low, high) = bootstrap(values), drawn(values)
    # A drawn quantile may fall on the neighbouring value where probabilities are close to 2.5 %.
    atoms = sorted(value for group in values for value in group)
    assert abs(atoms.index(exact.low) - atoms.index(low)) <= 1
    assert abs(atoms.index(exact.high) - atoms.index(high)) <= 1


@pytest.mark.parametrize(("count", "repeats"), [(6, 3), (8, 3), (5, 4), (6, 2)])
def test_with_an_even_number_it_is_never_narrower_than_a_drawn_one(count: int, repeats: int) -> None:
    rng = random.Random(count * repeats)
    values = [[rng.lognormvariate(0.3, 0.2) for _ in range(repeats)] for _ in range(count)]
    exact, (low, high) = bootstrap(values), drawn(values)
    assert exact.low <= low + 1e-12
    assert exact.high >= high - 1e-12


@given(groups)
def test_the_interval_contains_the_estimate_and_no_more_than_the_values(values: list[list[float]]) -> None:
    found = bootstrap(values)
    flat = [value for group in values for value in group]
    assert found.value == median_of_medians(values)
    assert min(flat) <= found.low <= found.value <= found.high <= max(flat)


@given(groups, st.randoms(use_true_random=False))
def test_order_of_groups_and_of_values_does_not_matter(values: list[list[float]], rng: random.Random) -> None:
    shuffled = [rng.sample(group, len(group)) for group in values]
    rng.shuffle(shuffled)
    assert bootstrap(shuffled) == bootstrap(values)
    assert leave_one_out(shuffled) == leave_one_out(values)


@given(groups, st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_scaling_the_values_scales_the_interval(values: list[list[float]], factor: float) -> None:
    found, scaled = bootstrap(values), bootstrap([[value * factor for value in group] for group in values])
    assert (scaled.value, scaled.low, scaled.high) == (found.value * factor, found.low * factor, found.high * factor)


@given(groups)
def test_the_mirror_image_has_the_mirrored_interval(values: list[list[float]]) -> None:
    found, mirrored = bootstrap(values), bootstrap([[-value for value in group] for group in values])
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


@given(st.lists(ratio, min_size=1, max_size=9), st.integers(1, 4))
def test_repeats_that_say_the_same_add_nothing(values: list[float], repeats: int) -> None:
    assert bootstrap([[value] * repeats for value in values]) == bootstrap([[value] for value in values])


def test_a_single_value_is_its_own_interval() -> None:
    assert bootstrap([[1.3]]) == Estimate(1.3, 1.3, 1.3)
    assert leave_one_out([[1.3]]) is None


def test_many_rows_cost_little_and_stay_finite() -> None:
    rng = random.Random(0)
    found = bootstrap([[rng.random() for _ in range(3000)], [rng.random() for _ in range(2)]])
    assert 0 < found.low < found.value < found.high < 1


def test_leave_one_out_finds_the_sample_that_carries_the_median() -> None:
    low, high = leave_one_out([[0.6], [0.67], [1.27], [1.3], [1.4]]) or (0.0, 0.0)
    assert (low, high) == (statistics.median([0.6, 0.67, 1.27, 1.3]), statistics.median([0.67, 1.27, 1.3, 1.4]))
    assert low < 1 < high


@given(groups)
def test_leaving_out_each_group_in_turn_gives_the_same_extremes(values: list[list[float]]) -> None:
    medians = [statistics.median(group) for group in values]
    rest = [statistics.median(medians[:i] + medians[i + 1 :]) for i in range(len(medians)) if len(medians) > 1]
    assert leave_one_out(values) == ((min(rest), max(rest)) if rest else None)


def test_wilson_against_published_values() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3.
    for correct, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        found = wilson(Share(correct, total))
        assert found.low == pytest.approx(low, abs=5e-5)
        assert found.high == pytest.approx(high, abs=5e-5)
    assert wilson(Share(1, 29)).low == pytest.approx(0.0061, abs=5e-5)


def test_newcombe_against_published_values() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10.
    for a, b, low, high in (
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 10), 0.6075, 1.0),
        ((5, 56), (0, 29), -0.0381, 0.1926),
    ):
        found = newcombe(Share(*a), Share(*b))
        assert found.low == pytest.approx(low, abs=5e-5)
        assert found.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 60), st.integers(0, 60))
def test_shares_and_differences_lie_in_their_intervals(n: int, k: int, m: int, j: int) -> None:
    first, second = Share(min(k, n), n), Share(min(j, m), m)
    for found in (wilson(first), wilson(second)):
        assert 0 <= found.low <= found.value <= found.high <= 1
    found, reverse = newcombe(first, second), newcombe(second, first)
    assert found.low <= found.value <= found.high
    assert (found.low, found.high) == pytest.approx((-reverse.high, -reverse.low), abs=1e-12)
    assert math.isfinite(found.low)


def test_contains_and_overlaps_include_the_bounds() -> None:
    band = Estimate(1.0, 0.9, 1.1)
    assert band.contains(0.9)
    assert band.contains(1.1)
    assert not band.contains(1.1000001)
    assert band.overlaps(Estimate(1.2, 1.1, 1.3))
    assert not band.overlaps(Estimate(1.2, 1.11, 1.3))
