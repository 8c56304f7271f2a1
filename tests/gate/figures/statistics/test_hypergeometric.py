import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.figures.statistics.hypergeometric import at_most, most_false


@st.composite
def samples(draw: st.DrawFn) -> tuple[int, int, int]:
    total = draw(st.integers(1, 400))
    drawn = draw(st.integers(1, total))
    return total, drawn, draw(st.integers(0, drawn))


@given(samples(), st.integers(0, 400))
def test_the_chance_is_the_one_of_scipy(sample: tuple[int, int, int], false: int) -> None:
    total, drawn, found = sample
    false = min(false, total)
    assert at_most(total, false, drawn, found) == pytest.approx(stats.hypergeom.cdf(found, total, false, drawn), 1e-6)


@given(samples())
def test_the_bound_is_the_largest_number_that_is_not_rejected(sample: tuple[int, int, int]) -> None:
    total, drawn, found = sample
    most = most_false(total, drawn, found)
    assert found <= most <= total - (drawn - found)
    assert most == found or at_most(total, most, drawn, found) > 0.05
    assert most == total - (drawn - found) or at_most(total, most + 1, drawn, found) <= 0.05


@pytest.mark.parametrize(
    ("total", "drawn", "found", "most"), [(10, 10, 0, 0), (180, 18, 0, 26), (100, 10, 0, 24), (216, 10, 0, 54)]
)
def test_bounds_known_by_hand(total: int, drawn: int, found: int, most: int) -> None:
    """All rows seen leave nothing. Of 100 rows ten true ones leave 24: C(76, 10) / C(100, 10) is 0.055, of 25 0.048."""
    assert most_false(total, drawn, found) == most
