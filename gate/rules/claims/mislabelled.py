"""Claims that are not what they are called: of other arms, against another baseline, or over something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.recompute import older_ratio
from gate.figures.estimators import acceptances
from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from reports.records.claims import (
        BaseClaim,
        Claim,
    )


@evidence_rule(
    "CLAIM_MISLABELLED",
    title="A claim about other arms than its name says",
    catches="A claim whose name is not metric/arm (of two arms metric/arm/baseline), whose arm does not have the role "
    "the metric is about, that is measured against anything but the oracle, names an interval, baseline or control "
    "that such a claim has not, or is admitted and withheld at once.",
    why="A ratio against a slower peer is reproducible to the last digit, and no speed-up.",
    fix="Let the gate propose the claims; the baseline is the arm of role oracle.",
    example=Example(
        bad="decode_speedup/fused, measured against the ablated control",
        good="decode_speedup/fused, measured against the oracle",
    ),
)
def claim_mislabelled(view: ReportView) -> Iterator[Finding]:
    """Metric, name, arm and baseline of a claim do not go together."""
    roles = {"null_ratio": ("null",), "oracle_recall": ("oracle",)}
    for claim in view.report.claims:
        arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
        if not view.imported:
            yield from _unlike_ours(claim, view)
        if claim.name != (name := _name_of(claim)):
            yield _mislabelled(claim, "name", claim.name, name)
        if arm is None:
            continue
        wanted = roles.get(claim.metric, ("sut", "peer"))
        if arm.role not in wanted:
            yield _mislabelled(claim, "arm", f"{arm.name} of role {arm.role}", f"an arm of role {' or '.join(wanted)}")
        if claim.metric == "arm_ratio" and (baseline is None or baseline.role not in wanted or baseline is arm):
            yield _mislabelled(claim, "baseline", str(claim.baseline), "another arm under test")
        compares = claim.metric in ("decode_speedup", "e2e_speedup", "null_ratio", "token_identity")
        compares = compares or (claim.metric == "kv_saving" and claim.basis == "measured")
        if compares and (baseline is None or baseline.role != "oracle"):
            found = f"{baseline.name} of role {baseline.role}" if baseline is not None else str(claim.baseline)
            yield _mislabelled(claim, "baseline", found, "the arm of role oracle")


def _name_of(claim: Claim) -> str:
    ends = (claim.arm, claim.baseline or "") if claim.metric == "arm_ratio" else (claim.arm,)
    return "/".join((claim.metric, *ends))


def _unlike_ours(claim: Claim, view: ReportView) -> Iterator[Finding]:
    """What the gate never writes into a claim of that metric: another interval, a baseline or control without use."""
    ratio = claim.metric in (*RATIOS, "null_ratio")
    method = "wilson" if not ratio else "bootstrap" if older_ratio(view, claim) else "t"
    if claim.interval is not None and claim.interval.method != method:
        yield _mislabelled(claim, "interval.method", claim.interval.method, method)
    if claim.baseline is not None and claim.metric not in (*RATIOS, "null_ratio", "token_identity", "kv_saving"):
        yield _mislabelled(claim, "baseline", claim.baseline, "none; such a claim is of one arm")
    oracle = view.oracle.name if view.oracle is not None else None
    if claim.metric == "kv_saving" and claim.basis == "analytic" and claim.baseline not in (None, oracle):
        yield _mislabelled(claim, "baseline", str(claim.baseline), "the arm of role oracle, or none")
    if claim.metric in ("oracle_recall", "native_baseline_recall", "arm_recall") and claim.control is not None:
        yield _mislabelled(claim, "control", claim.control, "none; only recall by restoration has one")
    if claim.status == "admitted" and claim.withheld_by:
        yield _mislabelled(claim, "withheld_by", ", ".join(claim.withheld_by), "empty in a claim that is admitted")


def _mislabelled(claim: BaseClaim, field: str, found: str, allowed: str) -> Finding:
    message = f"{one_line(claim.name, 120)}: {field} is {found}; it must be {allowed}"
    return Finding(message, claim.arm, None, f"claims.{field}", found[:80], allowed[:80], claim.name)


@claim_rule(
    "ACCEPTANCE_DENOMINATOR",
    title="Acceptance that is not of the drafts",
    catches="An acceptance that was divided by the tokens of the answer, or by nobody knows what, and not by the "
    "tokens that were drafted; or one without the tokens a block adds and the acceptance at each position.",
    why="A tool printed 86 % acceptance. It had divided by the tokens of the answer. Of the tokens that were drafted, "
    "only 41 % had been accepted.",
    fix="Report three figures together: accepted over drafted, tokens committed a block, acceptance at each position.",
    blocks=("acceptance",),
    example=Example(
        bad="86 % of the output tokens were drafted",
        good="41 % of the drafts accepted, 2.9 committed a block, and by position",
    ),
)
def acceptance_denominator(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The figure divides by something else than drafts, or stands alone."""
    if claim.metric != "acceptance":
        return
    arm = view.arms.get(claim.arm)
    if claim.denominator != "drafted":
        true = acceptances(arm).get("drafted") if arm is not None else None
        known = f"; of the drafts at most {true:.3g} were accepted" if true is not None else ""
        message = f"{claim.arm}: {claim.value:.3g} is accepted drafts over {claim.denominator.replace('_', ' ')}{known}"
        yield Finding(message, claim.arm, None, "claims.denominator", claim.denominator, "drafted")
    if claim.committed_per_block is None or claim.by_position is None:
        message = f"{claim.arm}: acceptance stands without committed per block or without acceptance by position"
        yield Finding(message, claim.arm, None, "claims.by_position", "none", "three figures")
