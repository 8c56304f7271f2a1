"""Recall against bytes: which arms are points, and what stands on both axes."""

import pytest

from gate.figures.recall_frontier import BOUNDS_ALONE, EXACT_ALONE, F_THETA, frontier
from gate.render.page import frontier_rows as shown
from gate.render.pictures.frontiers import frontier_picture
from tests.gate.edits import set_rows
from tests.gate.honest import Setup, measured_niah


def test_arms_that_bound_their_cache_are_points_by_bytes() -> None:
    report = measured_niah(Setup(samples=3, repeats=2, suts=("identity", "f_theta")))
    points = frontier(report)
    assert [point.share for point in points] == sorted(point.share for point in points)
    by_arm = {point.arm: point for point in points}
    assert set(by_arm) == {"identity", "f_theta", "ablate"}
    assert by_arm["f_theta"].family == F_THETA
    assert by_arm["ablate"].family == BOUNDS_ALONE
    assert by_arm["identity"].share == pytest.approx(1.0, abs=0.05)
    assert by_arm["ablate"].share < 0.5
    assert by_arm["ablate"].recalled.correct == 0


def test_what_ablate_keeps_is_named_by_whether_layers_are_exact() -> None:
    report = measured_niah(Setup(samples=3, repeats=2, suts=("f_theta",)))
    ablate = next(arm for arm in report.arms if arm.name == "ablate")
    assert ablate.restoration is not None
    exact = ablate.replace(restoration=ablate.restoration.replace(exact_layers=(0, 1)))
    arms = tuple(exact if arm is ablate else arm for arm in report.arms)
    families = {point.arm: point.family for point in frontier(report.replace(arms=arms))}
    assert families["ablate"] == EXACT_ALONE


def test_without_f_theta_or_without_bytes_there_is_no_frontier() -> None:
    assert frontier(measured_niah(Setup(samples=3, repeats=2, suts=("identity",)))) == ()
    report = measured_niah(Setup(samples=3, repeats=2, suts=("f_theta",)))
    assert "f_theta" not in {point.arm for point in frontier(set_rows(report, "f_theta", kv_bytes_prefill=None))}


def test_the_page_has_a_picture_and_a_row_a_point() -> None:
    report = measured_niah(Setup(samples=3, repeats=2, suts=("f_theta",)))
    points = frontier(report)
    assert {point.family for point in points} == {F_THETA, BOUNDS_ALONE}
    assert [picture.name for picture in frontier_picture(report)] == ["recall"]
    assert all(len(shown.row(point)) == len(shown.COLUMNS) for point in points)
