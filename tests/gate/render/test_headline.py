from dataclasses import replace

import pytest

from gate.judging.judge import JudgedClaim, judge
from gate.render.headline import headline_line, three_digits, withheld_line
from tests.gate.honest import Setup, honest_code, honest_niah
from tests.gate.render.samples import HOSTILE


def headlines(report) -> dict[str, str]:
    return {each.claim.name: headline_line(each) for each in judge(report).headlines}


def test_a_speedup_comes_with_interval_baseline_and_leave_one_out() -> None:
    line = headlines(honest_code(Setup(samples=6)))["decode_speedup/fused_dflash"]
    assert line.startswith("HEADLINE decode_speedup/fused_dflash = 1.")
    for part in ("x, 95 % interval ", ", against oracle", ", on 6 prompts of 6 kinds", ", leaving one kind out "):
        assert part in line


def test_a_share_comes_with_its_count() -> None:
    lines = headlines(honest_niah(Setup(samples=6)))
    assert " = 1 (6/6), " in lines["oracle_recall/oracle"]
    assert " = 1 (6/6), " in lines["restoration_recall/identity"]
    assert "(" not in headlines(honest_code(Setup(samples=6)))["decode_speedup/fused_dflash"]


def test_acceptance_is_three_figures() -> None:
    line = headlines(honest_code(Setup(samples=6)))["acceptance/fused_dflash"]
    assert "committed per block" in line
    assert "by position" in line


def test_recall_by_restoration_names_its_control() -> None:
    line = headlines(honest_niah(Setup(samples=6)))["restoration_recall/identity"]
    assert "beside control ablate, chance alone would put it so far above the control in 0.016 of runs" in line
    assert "to the oracle" not in line  # of which it lost nothing


def test_recall_below_the_oracles_says_what_luck_makes_of_it() -> None:
    judged = judge(honest_niah(Setup(samples=6))).headlines
    told = next(each for each in judged if each.claim.name == "restoration_recall/identity")
    line = headline_line(replace(told, claim=told.claim.replace(p_oracle=0.5)))
    assert "chance alone would put it so far below the oracle in 0.5 of runs" in line


@pytest.mark.parametrize(
    ("value", "shown"), [(1.6184, "1.62"), (0.0312, "0.0312"), (1.0, "1"), (12345.6, "12,346"), (-0.5, "-0.5")]
)
def test_figures_have_three_digits(value: float, shown: str) -> None:
    assert three_digits(value) == shown
    assert three_digits(value, "x") == f"{shown}x"


def test_a_withheld_claim_is_told_with_its_codes_and_without_its_figure() -> None:
    claim = JudgedClaim(name="a/b", metric="arm_recall", value=0.625, status="withheld", withheld_by=("X", "Y"))
    assert withheld_line(claim) == "WITHHELD a/b: X, Y"
    assert withheld_line(claim.replace(withheld_by=())) == "WITHHELD a/b: not claimed"
    assert withheld_line(claim.replace(name=HOSTILE)).isprintable()
