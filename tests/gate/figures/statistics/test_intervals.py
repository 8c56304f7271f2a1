"""Intervals of shares: against published values, and their invariants."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.statistics.intervals import Share, newcombe, wilson


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
