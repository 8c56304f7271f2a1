"""Rates and ratios of other tools, by every estimator they may have used."""

import pytest

from gate.figures.estimators import acceptances, arm_rate, derived_rate, ratios
from reports.records.measurement import Arm, DrafterInfo, Measurement, Speculation, StatedRate


def arm(*rows, **changes):
    measured = tuple(
        Measurement(sample=i, repeat=0, prompt_tokens=100, prefill_s=2.0, decode_tokens=tokens, decode_s=s, e2e_s=s + 2)
        for i, (tokens, s) in enumerate(rows)
    )
    return Arm(name="a", role="sut", engine="x", measurements=measured, **changes)


FAST, SLOW = arm((100, 1.0), (100, 2.0), (10, 1.0)), arm((100, 2.0), (100, 2.0), (10, 2.0))


@pytest.mark.parametrize(
    ("scope", "statistic", "rate"),
    [
        ("decode", "total", 210 / 4),
        ("decode", "median", 50.0),
        ("decode", "mean", (100 + 50 + 10) / 3),
        ("e2e", "total", 210 / 10),
        ("prefill", "median", 50.0),
    ],
)
def test_rates_by_scope_and_statistic(scope, statistic, rate):
    assert arm_rate(FAST, scope, statistic) == pytest.approx(rate)


def test_every_estimator_of_a_ratio_is_tried():
    found = sorted(ratios(FAST, SLOW, "decode"))
    assert found == pytest.approx(sorted([(210 / 4) / (210 / 6), 1.0, 160 / 105, 2.0, (2 + 1 + 2) / 3]))


def test_printed_rates_stand_in_only_where_there_are_no_rows():
    printed = StatedRate(value=16.5, scope="decode", statistic="mean")
    assert arm_rate(arm(stated_rates=(printed,)), "decode", "mean") == 16.5
    assert arm_rate(arm(stated_rates=(printed,)), "decode", "median") is None
    assert derived_rate(arm(stated_rates=(printed,)), printed) is None
    assert derived_rate(FAST, printed) == pytest.approx(160 / 3)


def test_a_row_without_seconds_makes_totals_unknown():
    bare = FAST.replace(measurements=(*FAST.measurements, Measurement(sample=9, repeat=0)))
    assert arm_rate(bare, "decode", "total") is None
    assert arm_rate(bare, "decode", "mean") is None


def test_acceptance_over_drafts_and_over_tokens():
    row = Measurement(sample=0, repeat=0, speculation=Speculation(blocks=222, committed=2048))
    drafting = Arm(
        name="a", role="sut", engine="x", measurements=(row,), drafter=DrafterInfo(name="dflash", block_size=16)
    )
    found = acceptances(drafting)
    assert found["output_tokens"] == pytest.approx(0.8916, abs=1e-4)
    assert found["drafted"] == pytest.approx(1826 / 3330)
    assert acceptances(FAST) == {}
