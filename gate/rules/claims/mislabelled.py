"""Names, arms and baselines of claims that go together."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from reports.records.claims import (
    BaseClaim,
    Claim,
    MemoryClaim,
    NullRatioClaim,
    RecallClaim,
    SpeedupClaim,
)
from reports.untrusted.one_line import one_line


@evidence_rule(
    "CLAIM_MISLABELLED",
    title="A claim about other arms than its name says",
    catches="A claim whose name is not metric/arm, whose arm does not have the role the metric is about, that is "
    "measured against anything but the oracle, names an interval, baseline or control that such a claim has not, or is "
    "admitted and withheld at once.",
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
            yield from _unlike_ours(claim)
        if claim.name != f"{claim.metric}/{claim.arm}":
            yield _mislabelled(claim, "name", claim.name, f"{claim.metric}/{claim.arm}")
        if arm is None:
            continue
        wanted = roles.get(claim.metric, ("sut", "peer"))
        if arm.role not in wanted:
            yield _mislabelled(claim, "arm", f"{arm.name} of role {arm.role}", f"an arm of role {' or '.join(wanted)}")
        compares = claim.metric in ("decode_speedup", "e2e_speedup", "null_ratio", "token_identity")
        compares = compares or (isinstance(claim, MemoryClaim) and claim.basis == "measured")
        if compares and (baseline is None or baseline.role != "oracle"):
            found = f"{baseline.name} of role {baseline.role}" if baseline is not None else str(claim.baseline)
            yield _mislabelled(claim, "baseline", found, "the arm of role oracle")


def _unlike_ours(claim: Claim) -> Iterator[Finding]:
    """What the gate never writes into a claim of that metric: another interval, a baseline or control without use."""
    ratio = isinstance(claim, SpeedupClaim | NullRatioClaim)
    method = "bootstrap" if ratio else "wilson"
    if claim.interval is not None and claim.interval.method != method:
        yield _mislabelled(claim, "interval.method", claim.interval.method, method)
    if isinstance(claim, RecallClaim) and claim.baseline is not None:
        yield _mislabelled(claim, "baseline", claim.baseline, "none; recall is of one arm")
    if isinstance(claim, RecallClaim) and claim.control is not None and claim.metric != "restoration_recall":
        yield _mislabelled(claim, "control", claim.control, "none; only recall by restoration has one")
    if claim.status == "admitted" and claim.withheld_by:
        yield _mislabelled(claim, "withheld_by", ", ".join(claim.withheld_by), "empty in a claim that is admitted")


def _mislabelled(claim: BaseClaim, field: str, found: str, allowed: str) -> Finding:
    message = f"{one_line(claim.name, 120)}: {field} is {found}; it must be {allowed}"
    return Finding(message, claim.arm, None, f"claims.{field}", found[:80], allowed[:80], claim.name)
