from collections.abc import Iterator
from typing import Any

import pytest

from gate.judging.judge import conclude
from reports.records.measurement import Arm, Measurement
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, edit_rows, in_processes, knowing_text, scale, set_plan, set_rows
from tests.gate.rules.speedup.timed_code import quiet

CLAIM = "decode_speedup/native"


def second_slower(report: Report, factor: float) -> Report:
    """Whoever runs second is slower; here the native loop is."""
    oracle = next(arm for arm in report.arms if arm.name == "oracle")
    places = {(row.sample, row.repeat): row.order or 0 for row in oracle.measurements}
    return scale(report, "native", decode=factor, where=lambda row: (row.order or 0) > places[row.sample, row.repeat])


def cold(report: Report, factor: float, **stages: bool) -> Report:
    """The first run of the oracle takes `factor` times as long."""
    scaled = dict.fromkeys(stages, factor)
    return scale(report, "oracle", where=lambda row: (row.sample, row.repeat) == (0, 0), **scaled)


def test_order_is_recorded_and_alternates() -> None:
    report = quiet()
    assert not ask("SPEEDUP_ORDER", report, CLAIM)
    assert found("SPEEDUP_ORDER", set_rows(report, "native", order=None), CLAIM) == ["0 first, 0 second"]
    always_last = edit_rows(report, "native", lambda row: row.replace(order=(row.order or 0) + 1000))
    assert found("SPEEDUP_ORDER", always_last, CLAIM) == ["0 first, 15 second"]


def test_a_ratio_that_depends_on_the_order_is_found_beyond_its_intervals_only() -> None:
    assert ask("SPEEDUP_ORDER", second_slower(quiet(), 1.02), CLAIM)
    assert not ask("SPEEDUP_ORDER", second_slower(quiet(noise=0.05), 1.005), CLAIM)


@pytest.mark.parametrize(("drift", "fires"), [(0.08, False), (0.13, True)])
def test_the_baseline_may_drift_less_than_the_effect(drift: float, fires: bool) -> None:
    assert bool(ask("SPEEDUP_DRIFT", quiet(drift=drift), CLAIM)) is fires


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


def warmed(report: Report, **changes: Any) -> Report:
    """A report of now: in every process, the first row of each arm is there once more, as a warm-up."""
    assert report.plan is not None
    assert report.plan.samples is not None
    report = report.replace(plan=report.plan.replace(warmups=None))
    report = knowing_text(report, [f"own/file{sample}" for sample in range(report.plan.samples)], {})
    for name in [arm.name for arm in report.arms]:
        report = edit_arm(report, name, lambda arm: arm.replace(warm_ups=tuple(_first_rows(arm, changes))))
    return report


def _first_rows(arm: Arm, changes: dict[str, Any]) -> Iterator[Measurement]:
    for process in sorted({row.process for row in arm.measurements}):
        row = next(row for row in arm.measurements if row.process == process)
        assert row.token_ids is not None
        yield row.replace(**({"order": None, "token_ids": row.token_ids[:5]} | changes))


def test_warm_ups_are_rows_of_every_process() -> None:
    report = in_processes(cold(quiet(), 3.0, decode=True))
    assert not ask("SPEEDUP_WARMUP", warmed(report), CLAIM)
    late = edit_rows(report, "oracle", lambda row: row.replace(decode_s=3 * (row.decode_s or 0)), where=is_late)
    assert not ask("SPEEDUP_WARMUP", warmed(late), CLAIM)
    unwarmed = edit_arm(
        warmed(late), "oracle", lambda arm: arm.replace(warm_ups=tuple(w for w in arm.warm_ups or () if not w.process))
    )
    (finding,) = ask("SPEEDUP_WARMUP", unwarmed, CLAIM)
    assert "oracle: its first run of process 2 took" in finding.message


def is_late(row: Measurement) -> bool:
    return (row.process, row.sample) == (2, 0)


@pytest.mark.parametrize(
    "changes", [{"token_ids": (1, 2, 3)}, {"token_ids": ()}, {"decode_loop": "other"}, {"prompt_digest": None}]
)
def test_a_warm_up_of_something_else_is_none(changes: dict[str, Any]) -> None:
    report = in_processes(cold(quiet(), 3.0, decode=True))
    assert ask("SPEEDUP_WARMUP", warmed(report, **changes), CLAIM)


def test_a_warm_up_with_a_place_among_the_timed_runs_contradicts_the_plan() -> None:
    report = in_processes(quiet())
    assert not ask("PLAN_CONTRADICTED", warmed(report))
    assert ask("PLAN_CONTRADICTED", warmed(report, order=3))
    assert ask("PLAN_CONTRADICTED", warmed(report, process=7))


def test_no_figure_is_made_of_a_warm_up() -> None:
    report = quiet()
    slow = warmed(report, decode_s=1000.0, prefill_s=1000.0, e2e_s=2000.0, correct=False, kv_bytes_prefill=1)
    figures = {claim.name: claim.model_dump(exclude={"status", "withheld_by"}) for claim in conclude(report).claims}
    assert {
        claim.name: claim.model_dump(exclude={"status", "withheld_by"}) for claim in conclude(slow).claims
    } == figures
