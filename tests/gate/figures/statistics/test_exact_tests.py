"""The binomial tail and McNemar's test against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from gate.figures.statistics.exact_tests import binomial_tail, mcnemar


@given(st.integers(0, 400), st.data(), st.floats(0.001, 0.999))
def test_the_tail_is_scipys(trials, data, chance):
    successes = data.draw(st.integers(0, trials))
    expected = binomtest(successes, trials, chance, alternative="greater").pvalue if trials else 1.0
    assert binomial_tail(successes, trials, chance) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_mcnemar_asks_only_the_prompts_on_which_two_arms_differ():
    assert mcnemar(5, 0) == pytest.approx(1 / 32)
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(9, 1) == pytest.approx(binomtest(9, 10, alternative="greater").pvalue)
    assert mcnemar(1, 9) > 0.99
