"""Looks: when they come, and what each may spend."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reports.records.plan import Stopping

stoppings = st.tuples(st.integers(1, 20), st.integers(1, 20)).map(
    lambda both: Stopping(width=0.1, first=min(both), most=max(both))
)


@given(stoppings)
def test_looks_come_after_twice_as_many_processes_and_at_the_end(stopping: Stopping) -> None:
    assert (stopping.planned[0], stopping.planned[-1]) == (stopping.first, stopping.most)
    assert all(earlier < later <= 2 * earlier for earlier, later in pairwise(stopping.planned))


@given(stoppings)
def test_all_looks_together_spend_the_level_once(stopping: Stopping) -> None:
    shares = [stopping.share_at(look) for look in stopping.planned]
    assert abs(sum(shares) - 1) < 1e-12
    assert min(shares) > 0
    assert stopping.share_at(1000) == min(shares)


def test_three_to_twelve_processes() -> None:
    stopping = Stopping(width=0.1, first=3, most=12)
    assert stopping.planned == (3, 6, 12)
    assert [stopping.share_at(look) for look in (3, 6, 12)] == [1 / 16, 3 / 16, 3 / 4]


def test_there_are_at_least_the_processes_before_the_first_look() -> None:
    with pytest.raises(ValidationError, match="2 processes, 3 come before the first look"):
        Stopping(width=0.1, first=3, most=2)
