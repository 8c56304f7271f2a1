"""Rules about whether the runs could have shown the effect, at their edges."""

import pytest

from gate.claims.propose import propose
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, edit_rows, scale, set_plan, set_rows, without_arm
from tests.gate.honest import Setup, measured_code

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


@pytest.mark.parametrize(("repeats", "fires"), [(2, True), (3, False)])
def test_three_repeats_are_enough(repeats: int, fires: bool) -> None:
    assert bool(ask("SPEEDUP_REPEATS", quiet(repeats=repeats), CLAIM)) is fires


def test_repeats_count_as_pairs_and_once_each() -> None:
    def drop(row: Measurement) -> bool:
        return (row.sample, row.repeat) == (2, 1)

    report = quiet()
    for name in ("native", "oracle"):
        short = edit_arm(
            report, name, lambda arm: arm.replace(measurements=tuple(r for r in arm.measurements if not drop(r)))
        )
        assert found("SPEEDUP_REPEATS", short, CLAIM) == ["2"]
    doubled = edit_rows(report, "native", lambda row: row.replace(repeat=0) if drop(row) else row)
    assert found("SPEEDUP_REPEATS", doubled, CLAIM) == ["1"]


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


def test_order_is_recorded_and_alternates() -> None:
    report = quiet()
    assert not ask("SPEEDUP_ORDER", report, CLAIM)
    assert found("SPEEDUP_ORDER", set_rows(report, "native", order=None), CLAIM) == ["0 first, 0 second"]
    always_last = edit_rows(report, "native", lambda row: row.replace(order=(row.order or 0) + 1000))
    assert found("SPEEDUP_ORDER", always_last, CLAIM) == ["0 first, 15 second"]


def second_slower(report: Report, factor: float) -> Report:
    """Whoever runs second is slower; here the native loop is."""
    oracle = next(arm for arm in report.arms if arm.name == "oracle")
    places = {(row.sample, row.repeat): row.order or 0 for row in oracle.measurements}
    return scale(report, "native", decode=factor, where=lambda row: (row.order or 0) > places[row.sample, row.repeat])


def test_a_ratio_that_depends_on_the_order_is_found_beyond_its_intervals_only() -> None:
    assert ask("SPEEDUP_ORDER", second_slower(quiet(), 1.02), CLAIM)
    assert not ask("SPEEDUP_ORDER", second_slower(quiet(noise=0.05), 1.005), CLAIM)


@pytest.mark.parametrize(("drift", "fires"), [(0.08, False), (0.13, True)])
def test_the_baseline_may_drift_less_than_the_effect(drift: float, fires: bool) -> None:
    assert bool(ask("SPEEDUP_DRIFT", quiet(drift=drift), CLAIM)) is fires


def cold(report: Report, factor: float, **stages: bool) -> Report:
    """The first run of the oracle takes `factor` times as long."""
    scaled = dict.fromkeys(stages, factor)
    return scale(report, "oracle", where=lambda row: (row.sample, row.repeat) == (0, 0), **scaled)


@pytest.mark.parametrize("stage", ["decode", "prefill"])
@pytest.mark.parametrize(("factor", "fires"), [(1.49, False), (1.51, True)])
def test_a_first_run_of_one_and_a_half_times_paid_for_a_warm_up(stage: str, factor: float, fires: bool) -> None:
    report = set_plan(cold(quiet(), factor, **{stage: True}), warmups=())
    assert bool(ask("SPEEDUP_WARMUP", report, CLAIM)) is fires


def test_a_recorded_warm_up_is_enough_and_one_of_no_runs_is_none() -> None:
    report = cold(quiet(), 3.0, decode=True)
    assert not ask("SPEEDUP_WARMUP", report, CLAIM)
    assert report.plan is not None
    assert report.plan.warmups is not None
    empty = tuple(warmup.replace(runs=0) for warmup in report.plan.warmups)
    assert ask("SPEEDUP_WARMUP", set_plan(report, warmups=empty), CLAIM)
    others = tuple(warmup for warmup in report.plan.warmups if warmup.arm != "oracle")
    assert ask("SPEEDUP_WARMUP", set_plan(report, warmups=others), CLAIM)
    assert ask("SPEEDUP_WARMUP", report.replace(plan=None), CLAIM)
