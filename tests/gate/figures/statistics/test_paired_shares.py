"""McNemar's exact test against scipy's binomial test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.figures.statistics.paired_shares import discordance

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


@given(verdicts)
def test_the_probability_is_that_of_an_even_split(pairs: list[tuple[bool, bool]]) -> None:
    found = discordance([a for a, _ in pairs], [b for _, b in pairs])
    differing = found.first_only + found.second_only
    expected = stats.binomtest(found.first_only, differing, 0.5).pvalue if differing else 1.0
    assert found.p == pytest.approx(expected)
    assert found.total == len(pairs)


def test_five_of_five_against_none_is_not_yet_shown_and_six_are() -> None:
    assert discordance([True] * 5, [False] * 5).p == pytest.approx(0.0625)
    assert discordance([True] * 6, [False] * 6).p == pytest.approx(0.03125)


def test_verdicts_on_different_prompts_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        discordance([True], [])
