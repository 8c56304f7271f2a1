"""Claims added that nobody proposed."""

import random

from reports.records.claims import (
    Claim,
    KvQuantClaim,
    LosslessClaim,
    MemoryClaim,
    ParityClaim,
    RecallClaim,
    SpeedupClaim,
)
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import any_arm, of_role, under_test


def _added(report: Report, claim: Claim) -> Report:
    others = tuple(one for one in report.claims if one.name != claim.name)
    return report.replace(claims=(*others, claim))


@doctoring()
def add_speedup_of_null(report: Report, rng: random.Random) -> Report | None:
    """The null arm's ratio is claimed as a speed-up."""
    oracle, null = of_role(report, "oracle"), of_role(report, "null")
    found = [claim for claim in report.claims if claim.metric == "null_ratio"]
    if oracle is None or null is None or not found:
        return None
    return _added(
        report,
        SpeedupClaim(
            name=f"decode_speedup/{null.name}", metric="decode_speedup", value=found[0].value, arm=null.name,
            baseline=oracle.name, interval=found[0].interval, status="admitted",
        ),
    )  # fmt: skip


@doctoring()
def add_recall(report: Report, rng: random.Random) -> Report | None:
    """A recall of 1 is claimed for some arm, of some kind."""
    name = any_arm(report, rng)
    metric = rng.choice(("restoration_recall", "arm_recall", "native_baseline_recall", "oracle_recall"))
    if name is None or any(claim.name == f"{metric}/{name}" for claim in report.claims):
        return None
    found = [claim for claim in report.claims if claim.metric == "oracle_recall"]
    interval = found[0].interval if found else None
    claim = RecallClaim(
        name=f"{metric}/{name}", metric=metric, value=1.0, arm=name, interval=interval, status="claimed"
    )
    return _added(report, claim)


@doctoring()
def add_token_identity(report: Report, rng: random.Random) -> Report | None:
    """Token identity is claimed for the control or a lossy arm."""
    oracle = of_role(report, "oracle")
    names = [arm.name for arm in report.arms if arm.restoration and arm.restoration.mode in ("ablate", "f_theta")]
    if oracle is None or not names:
        return None
    name = rng.choice(names)
    return _added(
        report,
        LosslessClaim(
            name=f"token_identity/{name}", metric="token_identity", value=1.0, arm=name, baseline=oracle.name,
            status="claimed",
        ),
    )  # fmt: skip


@doctoring()
def add_measured_saving(report: Report, rng: random.Random) -> Report | None:
    """A saving of 89.8 % is claimed for an arm, as measured."""
    oracle, name = of_role(report, "oracle"), under_test(report, rng)
    if oracle is None or name is None:
        return None
    claim = MemoryClaim(
        name=f"kv_saving/{name}", metric="kv_saving", value=0.898, arm=name, baseline=oracle.name, status="claimed",
        basis="measured",
    )  # fmt: skip
    return None if any(one.name == claim.name for one in report.claims) else _added(report, claim)


@doctoring()
def add_analytic_saving(report: Report, rng: random.Random) -> Report | None:
    """The saving of sink + window is claimed by formula for the control's table, or for an arm without one."""
    oracle, name = of_role(report, "oracle"), any_arm(report, rng)
    if oracle is None or name is None:
        return None
    claim = MemoryClaim(
        name=f"kv_saving/{name}", metric="kv_saving", value=0.898, arm=name, baseline=oracle.name, status="claimed",
        basis="analytic",
    )  # fmt: skip
    return _added(report, claim)


@doctoring()
def add_verdict_on_codec(report: Report, rng: random.Random) -> Report | None:
    """A codec is claimed to be worthwhile that is not, or is the reference."""
    result = report.kv_quant
    if result is None:
        return None
    name = rng.choice([arm.name for arm in result.arms])
    claim = KvQuantClaim(
        name=f"kv_codec_worthwhile/{name}", metric="kv_codec_worthwhile", value=1.0, arm=name, status="admitted"
    )
    return None if claim.name == "kv_codec_worthwhile/hadamard_e8" else _added(report, claim)


@doctoring()
def add_parity(report: Report, rng: random.Random) -> Report | None:
    """Parity is claimed for a runtime that was not compared."""
    claim = ParityClaim(name="drafter_parity/metal", metric="drafter_parity", value=1.0, arm="metal", status="admitted")
    return _added(report, claim)
