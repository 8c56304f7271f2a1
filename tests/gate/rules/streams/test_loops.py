"""Loops at the end of a stream, found whatever their period."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.claims.counted_prompts import loop_at_end


@given(
    st.lists(st.integers(0, 10**6), max_size=20),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=40, unique=True),
    st.integers(3, 6),
)
def test_a_loop_is_found_by_its_shortest_period(before, unit, rounds):
    found = loop_at_end([*before, *unit * rounds], rounds=3, least=0)
    assert found == len(unit)


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=60))
def test_what_never_repeats_is_no_loop(tokens):
    assert loop_at_end(tokens, rounds=3, least=0) is None


@pytest.mark.parametrize(("cut", "found"), [(0, 4), (1, None)])
def test_a_loop_is_as_long_as_what_is_timed(cut, found):
    assert loop_at_end([7, 8, 9, 10] * 8, rounds=3, least=32 + cut) == found


def test_a_round_that_was_begun_counts():
    assert loop_at_end([5, *[1, 2, 3, 4] * 3, 1, 2], rounds=3, least=0) == 4
