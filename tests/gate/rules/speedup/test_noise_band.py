import pytest

from gate.claims.propose import propose
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, scale, set_rows, without_arm
from tests.gate.honest import Setup, measured_code
from tests.gate.rules.speedup.timed_code import CODE, quiet, slower

NGRAM = "decode_speedup/fused_ngram"


CLAIM = "decode_speedup/native"


def by_sample(report: Report, name: str, factors: tuple[float, ...]) -> Report:
    """Decode times of an arm multiplied, a factor a sample."""
    for sample, factor in enumerate(factors):
        report = scale(report, name, decode=factor, where=lambda row, sample=sample: row.sample == sample)
    return report


@pytest.mark.parametrize(("factor", "off"), [(1.0, False), (1.05, False), (1.3, True), (0.75, True)])
def test_the_oracle_is_as_fast_as_itself(factor, off):
    assert bool(ask("NULL_RATIO_OFF", slower(CODE, "oracle_again", factor), NGRAM)) is off
    assert bool(ask("NULL_RATIO_OFF", slower(CODE, "oracle_again", factor), "null_ratio/oracle_again")) is off


def test_a_ratio_that_noise_explains_is_not_off():
    noisy = measured_code(Setup(samples=7, repeats=3, max_new_tokens=12, draft_arms=("ngram",), noise=0.6))
    assert not ask("NULL_RATIO_OFF", noisy, NGRAM)


def test_an_interval_without_1_stands_on_either_side() -> None:
    assert not ask("SPEEDUP_INTERVAL", quiet(samples=6), CLAIM)
    assert not ask("SPEEDUP_INTERVAL", scale(quiet(samples=6), "native", decode=0.5), CLAIM)


@pytest.mark.parametrize(("outlier", "fires"), [(1.0 / 1.5, True), (1.0 / 1.02, False)])
def test_one_kind_of_prompt_that_goes_its_own_way_widens_the_interval(outlier: float, fires: bool) -> None:
    report = by_sample(quiet(samples=6), "native", (outlier, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert bool(ask("SPEEDUP_INTERVAL", report, CLAIM)) is fires


def test_who_compares_more_must_show_more() -> None:
    """A ratio that stands alone does not among nineteen others: the best of many equal arms is no finding."""
    spread = (0.97, 1.0, 1.12, 1.04, 1.13, 1.06)
    report = by_sample(quiet(samples=6), "native", spread)
    arm = next(one for one in report.arms if one.name == "native")
    many = report.replace(arms=(*report.arms, *(arm.replace(name=f"native{index}") for index in range(9))))
    assert not ask("SPEEDUP_INTERVAL", report, CLAIM)
    assert found("SPEEDUP_INTERVAL", many, CLAIM)[0].startswith("0.")


def test_without_pairs_there_is_no_interval() -> None:
    report = set_rows(quiet(samples=6), "oracle", decode_s=None)
    claim = next(one for one in propose(quiet(samples=6)) if one.name == CLAIM)
    assert found("SPEEDUP_INTERVAL", report.replace(claims=(claim,)), CLAIM) == ["none"]


@pytest.mark.parametrize(("factor", "fires"), [(1.0, False), (1.08, False), (1.11, True), (1 / 1.11, True)])
def test_an_effect_counts_beyond_what_the_oracle_differs_from_itself(factor: float, fires: bool) -> None:
    """The arm takes 1.1 times as long; an oracle that takes longer than itself by more is a disturbance."""
    report = scale(quiet(samples=6), "oracle_again", decode=factor)
    assert bool(ask("SPEEDUP_NULL_BAND", report, CLAIM)) is fires


def test_a_null_arm_that_scatters_around_1_is_no_band() -> None:
    report = by_sample(quiet(samples=6), "oracle_again", (1.3, 0.8, 1.2, 0.8, 1.25, 0.8))
    assert not ask("SPEEDUP_NULL_BAND", report, CLAIM)


def test_a_missing_shorter_or_foreign_null_arm_is_no_band() -> None:
    report = quiet(samples=6)
    assert found("SPEEDUP_NULL_BAND", without_arm(report, "oracle_again"), CLAIM) == ["none"]
    short = edit_arm(report, "oracle_again", lambda arm: arm.replace(measurements=arm.measurements[:10]))
    assert found("SPEEDUP_NULL_BAND", short, CLAIM) == ["10"]
    for changes in ({"engine": "fused"}, {"timing_scope": None}, {"prompt_set": "needle_free"}):
        other = edit_arm(report, "oracle_again", lambda arm, changes=changes: arm.replace(**changes))
        assert ask("SPEEDUP_NULL_BAND", other, CLAIM)
    assert ask("SPEEDUP_NULL_BAND", set_rows(report, "oracle_again", decode_loop="plain_step"), CLAIM)


def test_a_null_ratio_is_of_the_null_arm() -> None:
    report = quiet(samples=6)
    assert not ask("SPEEDUP_NULL_BAND", report, "null_ratio/oracle_again")
    claim = next(one for one in propose(report) if one.name == "null_ratio/oracle_again")
    forged = report.replace(claims=(claim.replace(arm="native"),))
    assert found("SPEEDUP_NULL_BAND", forged, "null_ratio/oracle_again") == ["role of its own"]


@pytest.mark.parametrize(("samples", "repeats", "fires"), [(1, 1, True), (1, 3, True), (2, 1, False)])
def test_an_oracle_beside_itself_on_one_prompt_cannot_differ(samples: int, repeats: int, fires: bool) -> None:
    report = quiet(samples=samples, repeats=repeats)
    for claim in (CLAIM, "null_ratio/oracle_again"):
        told = [finding.message for finding in ask("SPEEDUP_NULL_BAND", report, claim)]
        assert any("cannot fail" in message for message in told) is fires
