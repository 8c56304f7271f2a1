"""Recall against resident bytes: every arm that bounds its cache, as a share of what the oracle held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.figures.kv_memory import kv_saving
from gate.figures.prompt_shares import recall_of
from gate.figures.statistics.intervals import Share

if TYPE_CHECKING:
    from reports.records.measurement import Arm
    from reports.report import Report

F_THETA, EXACT_ALONE, BOUNDS_ALONE, IDENTITY = "f_theta", "exact layers alone", "sink and window alone", "identity"
FAMILIES = {"f_theta": F_THETA, "ablate": EXACT_ALONE, "identity": IDENTITY}


@dataclass(frozen=True)
class FrontierPoint:
    """One arm: `share` of the oracle's K/V bytes on the same prompts (median; features and windows counted)."""

    arm: str
    family: str
    exact_layers: int
    share: float
    recalled: Share


def frontier(report: Report) -> tuple[FrontierPoint, ...]:
    """The points of a needle report, by bytes; empty where no arm restores by f_theta or nothing was counted."""
    oracle = next((arm for arm in report.arms if arm.role == "oracle"), None)
    modes = {arm.restoration.mode for arm in report.arms if arm.restoration is not None}
    if oracle is None or "f_theta" not in modes:
        return ()
    points = [point for arm in report.arms if (point := _point(arm, oracle)) is not None]
    return tuple(sorted(points, key=lambda point: (point.share, point.arm)))


def _point(arm: Arm, oracle: Arm) -> FrontierPoint | None:
    kept, recalled, saving = arm.restoration, recall_of(arm), kv_saving(arm, oracle)
    if kept is None or kept.mode not in FAMILIES or recalled is None or saving is None:
        return None
    exact = len(kept.exact_layers or ())
    family = BOUNDS_ALONE if kept.mode == "ablate" and not exact else FAMILIES[kept.mode]
    return FrontierPoint(arm.name, family, exact, 1 - saving, recalled)
