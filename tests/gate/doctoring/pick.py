"""Which arm, row or claim a doctoring is done to."""

import random

from reports.records.claims import Claim
from reports.records.measurement import Arm, Measurement
from reports.report import Report
from tests.gate.doctoring.reshape import arm_of


def any_arm(report: Report, rng: random.Random, *roles: str) -> str | None:
    """The name of an arm with rows, in one of these roles (any, if none is named)."""
    names = [arm.name for arm in report.arms if arm.measurements and (not roles or arm.role in roles)]
    return rng.choice(names) if names else None


def under_test(report: Report, rng: random.Random) -> str | None:
    """The name of an arm whose performance may be claimed."""
    return any_arm(report, rng, "sut", "peer")


def drafting(report: Report, rng: random.Random) -> str | None:
    """The name of an arm all of whose rows have blocks."""
    names = [arm.name for arm in report.arms if arm.measurements and all(_blocks(row) for row in arm.measurements)]
    return rng.choice(names) if names else None


def _blocks(row: Measurement) -> bool:
    return row.speculation is not None and bool(row.speculation.rounds)


def restoring(report: Report, rng: random.Random) -> str | None:
    """The name of an arm that restores."""
    modes = ("identity", "f_theta")
    names = [arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.mode in modes]
    return rng.choice(names) if names else None


def ablated(report: Report) -> Arm | None:
    """The control that restores nothing."""
    return next((arm for arm in report.arms if arm.restoration is not None and arm.restoration.mode == "ablate"), None)


def of_role(report: Report, role: str) -> Arm | None:
    """The first arm of a role."""
    return next((arm for arm in report.arms if arm.role == role), None)


def any_row(report: Report, name: str, rng: random.Random) -> tuple[int, int]:
    """(sample, repeat) of some row of an arm."""
    row = rng.choice(arm_of(report, name).measurements)
    return row.sample, row.repeat


def claim_of(report: Report, rng: random.Random, *metrics: str, status: str | None = None) -> Claim | None:
    """Some claim of one of these metrics (any, if none is named), with this status if one is asked for."""
    found = [
        claim for claim in report.claims if (not metrics or claim.metric in metrics) and status in (None, claim.status)
    ]
    return rng.choice(found) if found else None


def factor(rng: random.Random, low: float = 0.3, high: float = 0.95) -> float:
    """A factor that matters, to make a time shorter."""
    return rng.uniform(low, high)
