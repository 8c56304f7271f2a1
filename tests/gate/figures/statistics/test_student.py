"""Student's t against scipy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.figures.statistics.student import quantile, two_sided_p

degrees = st.floats(1, 10_000)


@given(df=degrees, tail=st.floats(1e-7, 0.4))
def test_the_quantile_is_scipys(df: float, tail: float) -> None:
    assert quantile(df, tail) == pytest.approx(stats.t.isf(tail, df), rel=1e-9)


@given(df=degrees, t=st.floats(0, 50))
def test_the_probability_is_scipys(df: float, t: float) -> None:
    """To eight digits: near t = 0 scipy has no more."""
    assert two_sided_p(t, df) == pytest.approx(2 * stats.t.sf(t, df), rel=1e-8, abs=1e-300)


def test_what_is_infinitely_far_never_happens() -> None:
    assert two_sided_p(float("inf"), 3) == 0
