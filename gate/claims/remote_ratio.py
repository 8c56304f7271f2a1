"""An arm that a server ran beside its twin that ran here: decode rates, with and without the round trip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.figures.paired_ratios import paired_ratios, rows_by_key
from gate.figures.rates import decode_rate
from gate.figures.statistics.median import median
from gate.figures.statistics.ratio_estimate import RatioEstimate, estimate_ratio

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement
    from reports.report import Report


@dataclass(frozen=True)
class RemoteRatio:
    """Decode rate of a remote arm over that of its twin `here`: as the client timed it, and less the round trip.

    `overhead_s` is how much longer a decoded token took there, in seconds: the median over paired rows.
    """

    here: str
    raw: RatioEstimate
    without_trip: RatioEstimate
    overhead_s: float


def twin_of(report: Report, arm: Arm) -> Arm | None:
    """The first arm that ran here with the engine, loop, drafter, restoration and prompts of a remote one."""
    if arm.served_by is None:
        return None
    return next((other for other in report.arms if other.served_by is None and _setup(other) == _setup(arm)), None)


def remote_ratio(arm: Arm, twin: Arm, groups: Mapping[int, str]) -> RemoteRatio | None:
    """The ratios over all paired rows; none if one of them has no rate, or nothing is left without the round trip."""
    partners, ours = rows_by_key(twin), rows_by_key(arm)
    slower = [_slower(row, partners[key]) for key, row in ours.items() if key in partners]
    known = [seconds for seconds in slower if seconds is not None]
    less = arm.replace(measurements=tuple(map(_without_trip, arm.measurements)))
    pairs, fewer = (paired_ratios(one, twin, "decode_speedup", groups) for one in (arm, less))
    if not known or not len(known) == len(slower) == len(pairs) == len(fewer):
        return None
    raw, without = (estimate_ratio(pair.cell for pair in found) for found in (pairs, fewer))
    return RemoteRatio(twin.name, raw, without, median(known)) if raw is not None and without is not None else None


def _setup(arm: Arm) -> tuple[object, ...]:
    return arm.engine, arm.decode_loop, arm.drafter, arm.restoration, arm.prompt_set


def _slower(row: Measurement, partner: Measurement) -> float | None:
    ours, theirs = decode_rate(row), decode_rate(partner)
    return 1 / ours - 1 / theirs if ours is not None and theirs is not None else None


def _without_trip(row: Measurement) -> Measurement:
    if row.decode_s is None or row.round_trip is None:
        return row.replace(decode_s=None)
    return row.replace(decode_s=max(0.0, row.decode_s - row.round_trip.decode_s))
