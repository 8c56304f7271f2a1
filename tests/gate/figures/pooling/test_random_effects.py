"""Pooling, held to published figures, to scipy, and to the formulas written out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from gate.figures.pooling.random_effects import Study, pool_machines, pool_runs

VACCINATED = [
    (4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537), (505, 87886), (29, 7470), (17, 1699),
    (186, 50448), (5, 2493), (27, 16886),
]  # fmt: skip
CONTROLS = [
    (11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619), (499, 87892), (45, 7232),
    (65, 1600), (141, 27197), (3, 2338), (29, 17825),
]  # fmt: skip
"""Thirteen trials of the BCG vaccine, cases and others (Colditz et al. 1994): the field's usual example."""

studies = st.lists(st.builds(Study, st.floats(-1, 1), st.floats(0.01, 0.5), st.floats(2, 40)), min_size=2, max_size=8)


def trials() -> list[Study]:
    found = []
    for (cases, others), (c_cases, c_others) in zip(VACCINATED, CONTROLS, strict=True):
        log = math.log(cases / (cases + others)) - math.log(c_cases / (c_cases + c_others))
        variance = 1 / cases - 1 / (cases + others) + 1 / c_cases - 1 / (c_cases + c_others)
        found.append(Study(log, math.sqrt(variance), 1e9))
    return found


def test_the_vaccine_trials_come_out_as_published() -> None:
    pooled = pool_machines(trials(), same_prompts=False)
    assert pooled.tau2 == pytest.approx(0.3181, abs=5e-5)  # Paule and Mandel's estimate, as metafor prints it
    assert pooled.whole.log == pytest.approx(-0.7150, abs=5e-5)
    assert pooled.i2 == pytest.approx(0.9212, abs=5e-5)
    assert pooled.whole.error == pytest.approx(0.1809, abs=5e-5)
    low, high = pooled.whole.interval
    half = stats.t.ppf(0.975, 12) * 0.18089
    assert (math.log(low), math.log(high)) == pytest.approx((-0.71497 - half, -0.71497 + half), abs=1e-4)


def test_whether_they_agree_is_welchs_test() -> None:
    groups = [[0.1, 0.3, 0.2, 0.25, 0.15], [0.5, 0.9, 0.3, 0.7, 0.6, 0.4], [0.2, 0.1, 0.4, 0.3]]
    found = [
        Study(sum(group) / len(group), stats.tstd(group) / math.sqrt(len(group)), len(group) - 1) for group in groups
    ]
    means, variances = [s.log for s in found], [s.error**2 for s in found]
    weights = [1 / v for v in variances]
    mean = sum(w * m for w, m in zip(weights, means, strict=True)) / sum(weights)
    top = sum(w * (m - mean) ** 2 for w, m in zip(weights, means, strict=True)) / 2
    spread = sum((1 - w / sum(weights)) ** 2 / s.df for w, s in zip(weights, found, strict=True))
    ratio = top / (1 + 2 * (3 - 2) / (9 - 1) * spread)
    expected = stats.f.sf(ratio, 2, (9 - 1) / (3 * spread))
    assert pool_machines(found, same_prompts=False).alike == pytest.approx(expected, rel=1e-10)


@given(studies)
def test_tau_squared_is_the_root_of_paule_and_mandels_equation(found: list[Study]) -> None:
    def excess(tau2: float) -> float:
        weights = [1 / (study.error**2 + tau2) for study in found]
        mean = sum(w * s.log for w, s in zip(weights, found, strict=True)) / sum(weights)
        return sum(w * (s.log - mean) ** 2 for w, s in zip(weights, found, strict=True)) - (len(found) - 1)

    tau2 = pool_machines(found, same_prompts=False).tau2
    if excess(0) <= 0:
        assert tau2 == 0
    else:
        assert tau2 == pytest.approx(optimize.brentq(excess, 0, 100, xtol=1e-14), abs=1e-9)


@given(studies)
def test_the_same_prompts_never_make_a_figure_surer_than_its_runs(found: list[Study]) -> None:
    apart, same = (pool_machines(found, same_prompts=shared).whole for shared in (False, True))
    assert same.error >= apart.error
    assert same.error >= min(study.error for study in found) * (1 - 1e-12)
    assert same.df <= apart.df


def test_two_machines_by_hand() -> None:
    pooled = pool_machines([Study(0.6, 0.1, 5), Study(1.0, 0.1, 5)], same_prompts=False)
    # Q = 2 * (0.2 / 0.1)^2 = 8, and 2 * 0.04 / (0.01 + tau^2) = 1 at tau^2 = 0.07.
    assert pooled.tau2 == pytest.approx(0.07)
    assert pooled.i2 == pytest.approx(7 / 8)
    assert pooled.whole.log == pytest.approx(0.8)
    assert pooled.whole.error == pytest.approx(math.sqrt(0.08 / 2))
    assert pooled.whole.df == 1


def test_runs_that_agree_keep_the_degrees_of_freedom_of_their_errors() -> None:
    runs = [Study(0.70, 0.1, 5), Study(0.72, 0.1, 7)]
    assert pool_runs(runs, same_prompts=False).whole == Study(pytest.approx(0.71), pytest.approx(0.1 / 2**0.5), 12)
    assert pool_runs(runs, same_prompts=True).whole == Study(pytest.approx(0.71), pytest.approx(0.1), 5)
    assert pool_runs([*runs, Study(2.0, 0.1, 5)], same_prompts=False).whole.df == 2


def test_one_run_is_what_it_is() -> None:
    run = Study(0.3, 0.1, 5)
    assert pool_runs([run], same_prompts=False).whole == run
    low, high = run.interval
    half = stats.t.ppf(0.975, 5) * 0.1
    assert (math.log(low), math.log(high)) == pytest.approx((0.3 - half, 0.3 + half))
