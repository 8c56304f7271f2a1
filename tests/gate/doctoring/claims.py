"""Claims edited, promoted, added or removed, over rows that stay as they are."""

import random
from typing import Any

from gate.claims.propose import propose
from reports.records.claims import (
    AcceptanceClaim,
    Claim,
    Interval,
    RecallClaim,
)
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import ablated, any_arm, claim_of


def _with(report: Report, old: Claim, new: Claim) -> Report:
    return report.replace(claims=tuple(new if claim.name == old.name else claim for claim in report.claims))


def _edited(report: Report, claim: Claim | None, **changes: Any) -> Report | None:
    return _with(report, claim, claim.replace(**changes)) if claim is not None else None


@doctoring()
def edit_value(report: Report, rng: random.Random) -> Report | None:
    """The value of an admitted claim is made larger."""
    claim = claim_of(report, rng, status="admitted")
    return _edited(report, claim, value=claim.value * rng.uniform(1.02, 50.0) + 0.01) if claim is not None else None


@doctoring()
def edit_value_a_little(report: Report, rng: random.Random) -> Report | None:
    """The value of an admitted claim is rounded up."""
    claim = claim_of(report, rng, status="admitted")
    return _edited(report, claim, value=claim.value * 1.005) if claim is not None and claim.value else None


@doctoring()
def edit_interval(report: Report, rng: random.Random) -> Report | None:
    """The interval of a claim is made narrower."""
    found = [claim for claim in report.claims if claim.interval is not None]
    if not found:
        return None
    claim = rng.choice(found)
    assert claim.interval is not None
    near = claim.value * rng.uniform(0.0, 0.001) + 1e-4
    interval = Interval(low=claim.value - near, high=claim.value + near, method=claim.interval.method)
    return _edited(report, claim, interval=interval)


@doctoring()
def drop_interval(report: Report, rng: random.Random) -> Report | None:
    """The interval of a claim goes."""
    found = [claim for claim in report.claims if claim.interval is not None]
    return _edited(report, rng.choice(found), interval=None) if found else None


@doctoring()
def edit_leave_one_out(report: Report, rng: random.Random) -> Report | None:
    """The extremes with one prompt left out are moved to the ratio itself."""
    claim = claim_of(report, rng, "decode_speedup", "e2e_speedup")
    return _edited(report, claim, leave_one_out=(claim.value, claim.value)) if claim is not None else None


@doctoring()
def edit_estimator(report: Report, rng: random.Random) -> Report | None:
    """A ratio is said to be of totals."""
    claim = claim_of(report, rng, "decode_speedup", "e2e_speedup")
    return _edited(report, claim, estimator="ratio_of_totals") if claim is not None else None


@doctoring()
def edit_claim_arm(report: Report, rng: random.Random) -> Report | None:
    """A claim is said to be about another arm."""
    claim, name = claim_of(report, rng), any_arm(report, rng)
    if claim is None or name is None or claim.arm == name:
        return None
    return _edited(report, claim, arm=name, name=f"{claim.metric}/{name}")


@doctoring()
def edit_claim_baseline(report: Report, rng: random.Random) -> Report | None:
    """A claim is said to be against another arm."""
    claim = claim_of(report, rng, "decode_speedup", "e2e_speedup", "token_identity", "kv_saving", "null_ratio")
    name = any_arm(report, rng, "sut", "peer", "control")
    if claim is None or name is None or name == claim.arm:
        return None
    return _edited(report, claim, baseline=name, status="claimed")


@doctoring()
def rebase_on_slowest_arm(report: Report, rng: random.Random) -> Report | None:
    """A speed-up is measured against another arm, with the figures that this gives."""
    claim = claim_of(report, rng, "decode_speedup", "e2e_speedup")
    name = any_arm(report, rng, "sut", "peer", "control")
    if claim is None or name is None or name == claim.arm:
        return None
    # What the gate would derive if that arm were the oracle.
    roles = {name: "oracle", **{arm.name: "peer" for arm in report.arms if arm.role == "oracle"}}
    other = report.replace(arms=tuple(arm.replace(role=roles.get(arm.name, arm.role)) for arm in report.arms))
    found = [one for one in propose(other) if one.name == claim.name]
    return _with(report, claim, found[0].replace(status="admitted")) if found else None


@doctoring()
def edit_claim_metric(report: Report, rng: random.Random) -> Report | None:
    """A recall is said to be by restoration, or of the oracle, or of a native baseline."""
    claim = claim_of(report, rng, "oracle_recall", "native_baseline_recall", "restoration_recall", "arm_recall")
    if claim is None:
        return None
    metric = rng.choice(("restoration_recall", "arm_recall", "native_baseline_recall"))
    return _edited(report, claim, metric=metric, name=f"{metric}/{claim.arm}") if metric != claim.metric else None


@doctoring()
def rename_claim(report: Report, rng: random.Random) -> Report | None:
    """A claim gets the name of a better one."""
    claim = claim_of(report, rng, status="admitted")
    return _edited(report, claim, name=f"decode_speedup/{claim.arm} by 2.5x") if claim is not None else None


@doctoring()
def edit_claim_control(report: Report, rng: random.Random) -> Report | None:
    """A recall names another arm as its control, or none."""
    claim = claim_of(report, rng, "restoration_recall")
    name = any_arm(report, rng)
    if not isinstance(claim, RecallClaim):
        return None
    control = ablated(report)
    other = rng.choice((None, name))
    return None if control is None or other == claim.control else _edited(report, claim, control=other)


@doctoring()
def edit_acceptance_figures(report: Report, rng: random.Random) -> Report | None:
    """Committed per block, or acceptance by position, is made larger."""
    claim = claim_of(report, rng, "acceptance")
    if not isinstance(claim, AcceptanceClaim):
        return None
    better = tuple(min(1.0, share + 0.2) for share in claim.by_position or ())
    changes = rng.choice(({"committed_per_block": (claim.committed_per_block or 1.0) * 1.5}, {"by_position": better}))
    return _edited(report, claim, **changes)


@doctoring()
def drop_acceptance_figures(report: Report, rng: random.Random) -> Report | None:
    """Acceptance stands without committed per block or acceptance by position."""
    claim = claim_of(report, rng, "acceptance")
    return _edited(report, claim, **{rng.choice(("committed_per_block", "by_position")): None}) if claim else None


@doctoring()
def edit_denominator(report: Report, rng: random.Random) -> Report | None:
    """Acceptance is said to be of the output tokens, and so is larger."""
    claim = claim_of(report, rng, "acceptance")
    return _edited(report, claim, denominator="output_tokens", value=0.86) if claim is not None else None


@doctoring()
def promote_withheld(report: Report, rng: random.Random) -> Report | None:
    """A withheld claim is admitted, by hand."""
    claim = claim_of(report, rng, status="withheld")
    return _edited(report, claim, status=rng.choice(("admitted", "claimed")), withheld_by=())


@doctoring()
def promote_all_and_drop_gate(report: Report, rng: random.Random) -> Report | None:
    """Every claim is asserted, and the gate block goes."""
    if not any(claim.status == "withheld" for claim in report.claims):
        return None
    claims = tuple(claim.replace(status="claimed", withheld_by=()) for claim in report.claims)
    return report.replace(claims=claims, gate=None)


@doctoring()
def same_claim_twice(report: Report, rng: random.Random) -> Report | None:
    """A claim stands twice, once with a better value."""
    claim = claim_of(report, rng, status="admitted")
    if claim is None:
        return None
    return report.replace(claims=(*report.claims, claim.replace(value=claim.value * 1.5 + 0.1)))


@doctoring()
def remove_unwelcome_claim(report: Report, rng: random.Random) -> Report | None:
    """A claim goes; what is said of the others stays true."""
    claim = claim_of(report, rng)
    if claim is None:
        return None
    return report.replace(claims=tuple(one for one in report.claims if one.name != claim.name))


@doctoring()
def remove_end_to_end_claims(report: Report, rng: random.Random) -> Report | None:
    """End-to-end ratios go, the decode-only ones stay."""
    kept = tuple(claim for claim in report.claims if claim.metric != "e2e_speedup")
    return report.replace(claims=kept) if len(kept) < len(report.claims) else None


@doctoring()
def compare_with_a_rival(report: Report, rng: random.Random) -> Report | None:
    """A claim that is of one arm is said to be measured against another project's."""
    claim = claim_of(report, rng, "acceptance", "kv_codec_worthwhile", "drafter_parity", status="admitted")
    return _edited(report, claim, baseline="llama.cpp") if claim is not None else None


@doctoring()
def count_more_samples(report: Report, rng: random.Random) -> Report | None:
    """A verdict on a codec is said to rest on a hundred prompts."""
    claim = claim_of(report, rng, "kv_codec_worthwhile", status="admitted")
    return _edited(report, claim, samples=100) if claim is not None else None


@doctoring()
def forget_what_luck_makes(report: Report, rng: random.Random) -> Report | None:
    """A claim of recall does not say any more what luck makes of it beside control and oracle."""
    claim = claim_of(report, rng, "restoration_recall", "arm_recall", status="admitted")
    return _edited(report, claim, p_control=None, p_oracle=None) if claim is not None else None
