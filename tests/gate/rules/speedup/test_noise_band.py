import pytest

from gate.claims.propose import propose
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, edit_rows, scale, set_rows, without_arm
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=5, repeats=3, max_new_tokens=24, draft_arms=("ngram", "native"), ngram_speedup=1.2))

NGRAM = "decode_speedup/fused_ngram"


def slower(report, name, factor):
    def edit(row):
        more = row.decode_s * (factor - 1)
        return row.replace(decode_s=row.decode_s + more, e2e_s=row.e2e_s + more)

    return edit_rows(report, name, edit)


CLAIM = "decode_speedup/native"


def quiet(**changes: object) -> Report:
    """A native loop at 1 / 1.1 of the oracle, on a machine without noise."""
    setup = {"samples": 5, "repeats": 3, "max_new_tokens": 40, "draft_arms": ("native",), "noise": 1e-6}
    return measured_code(Setup(**(setup | changes)))  # type: ignore[arg-type]


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
    assert not ask("SPEEDUP_INTERVAL", quiet(), CLAIM)
    assert not ask("SPEEDUP_INTERVAL", scale(quiet(), "native", decode=0.5), CLAIM)


@pytest.mark.parametrize(("outlier", "fires"), [(1.0 / 1.12, True), (1.0 / 1.09, False)])
def test_the_interval_reaches_to_the_sample_beyond_1(outlier: float, fires: bool) -> None:
    report = by_sample(quiet(), "native", (outlier, 1.0, 1.0, 1.0, 1.0))
    assert bool(ask("SPEEDUP_INTERVAL", report, CLAIM)) is fires


def test_a_ratio_that_one_prompt_carries_is_told_although_the_interval_lies_above_1() -> None:
    """30 prompts whose median is below 1 in two repeats of three, 31 above it in all: any one of these decides."""
    report = quiet(samples=61, max_new_tokens=3)

    def target(row: Measurement) -> float:
        return 0.67 if row.sample < 30 and row.repeat < 2 else 1.27

    for ratio in (0.67, 1.27):
        report = scale(report, "native", decode=1 / 1.1 / ratio, where=lambda row, ratio=ratio: target(row) == ratio)
    assert found("SPEEDUP_INTERVAL", report, CLAIM) == ["0.97 to 1.27"]


def test_without_pairs_there_is_no_interval() -> None:
    report = set_rows(quiet(), "oracle", decode_s=None)
    claim = next(one for one in propose(quiet()) if one.name == CLAIM)
    assert found("SPEEDUP_INTERVAL", report.replace(claims=(claim,)), CLAIM) == ["none"]


@pytest.mark.parametrize(("spread", "fires"), [(1.08, False), (1.12, True)])
def test_an_effect_counts_outside_the_band_of_the_null_arm(spread: float, fires: bool) -> None:
    report = by_sample(quiet(), "oracle_again", (spread, 1.0, 1.0, 1.0, 1.0))
    assert bool(ask("SPEEDUP_NULL_BAND", report, CLAIM)) is fires


@pytest.mark.parametrize(("spread", "fires"), [(1 / 1.08, False), (1 / 1.12, True)])
def test_the_band_is_symmetric_whichever_way_the_noise_went(spread: float, fires: bool) -> None:
    report = by_sample(quiet(), "oracle_again", (spread, 1.0, 1.0, 1.0, 1.0))
    assert bool(ask("SPEEDUP_NULL_BAND", report, CLAIM)) is fires


def test_a_missing_shorter_or_foreign_null_arm_is_no_band() -> None:
    report = quiet()
    assert found("SPEEDUP_NULL_BAND", without_arm(report, "oracle_again"), CLAIM) == ["none"]
    short = edit_arm(report, "oracle_again", lambda arm: arm.replace(measurements=arm.measurements[:10]))
    assert found("SPEEDUP_NULL_BAND", short, CLAIM) == ["10"]
    for changes in ({"engine": "fused"}, {"timing_scope": None}, {"prompt_set": "needle_free"}):
        other = edit_arm(report, "oracle_again", lambda arm, changes=changes: arm.replace(**changes))
        assert ask("SPEEDUP_NULL_BAND", other, CLAIM)
    assert ask("SPEEDUP_NULL_BAND", set_rows(report, "oracle_again", decode_loop="plain_step"), CLAIM)


def test_a_null_ratio_is_of_the_null_arm() -> None:
    report = quiet()
    assert not ask("SPEEDUP_NULL_BAND", report, "null_ratio/oracle_again")
    claim = next(one for one in propose(report) if one.name == "null_ratio/oracle_again")
    forged = report.replace(claims=(claim.replace(arm="native"),))
    assert found("SPEEDUP_NULL_BAND", forged, "null_ratio/oracle_again") == ["role of its own"]
