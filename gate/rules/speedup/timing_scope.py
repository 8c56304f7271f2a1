"""What was timed: decoding alone and the whole, in both arms alike, and both of them told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms, ratio_of
from gate.figures.rates import decode_rate
from gate.rulebook.registry import claim_rule, registered
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding

if TYPE_CHECKING:
    from reports.records.claims import Claim


PREFILL_LEFT_OUT = "SPEEDUP_PREFILL_LEFT_OUT"


@claim_rule(
    "SPEEDUP_DECODE_ONLY_MISSING",
    title="A ratio without decode-only figures",
    catches="Rows of the arm or its baseline without decode seconds and tokens, or an end-to-end ratio that stands "
    "without the decode-only one beside it.",
    why="End to end, prefill decides: 21 s against 146 s for the same work made 2.58x.",
    fix="Time prefill and decode apart in every row, and claim the decode-only ratio beside any other.",
    blocks=RATIOS,
    example=Example(bad="a ratio of end-to-end times", good="a ratio of decode tok/s, prefill left out"),
)
def decode_only_missing(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The decode-only ratio cannot be derived, or is not stated."""
    for arm in compared_arms(view, claim) or ():
        lacking = [row for row in arm.measurements if decode_rate(row) is None]
        if lacking or not arm.measurements:
            yield Finding(
                f"{arm.name}: {len(lacking)} of {len(arm.measurements)} rows lack decode seconds or tokens",
                arm=arm.name,
                sample=lacking[0].sample if lacking else None,
                field="decode_s",
                found=str(len(arm.measurements) - len(lacking)),
                allowed="every row",
            )
    decode_claims = [
        other
        for other in view.report.claims
        if other.metric == "decode_speedup" and (other.arm, other.baseline) == (claim.arm, claim.baseline)
    ]
    if claim.metric == "e2e_speedup" and not decode_claims:
        yield Finding(
            f"{claim.arm}: an end-to-end ratio of {claim.value:.4g} is stated without the decode-only one",
            arm=claim.arm,
            field="claims",
            found="e2e_speedup alone",
            allowed="decode_speedup beside it",
        )


@claim_rule(
    PREFILL_LEFT_OUT,
    title="Faster by leaving the prefill out",
    catches="A decode-only speed-up whose rows, prefill included, are slower than the baseline, with no end-to-end "
    "claim beside it, or with one that is withheld for a reason that does not hold.",
    why="A 3.46x was 0.53x once the prefill that made it possible was counted.",
    fix="Claim the end-to-end ratio beside the decode-only one; the reader sees both.",
    blocks=("decode_speedup",),
    example=Example(
        bad="3.46x decode-only, 0.53x with the prefill, and only the first is claimed", good="both ratios are claimed"
    ),
)
def prefill_left_out(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The end-to-end interval lies on the other side of 1 and is not claimed."""
    both = compared_arms(view, claim)
    if both is None or claim.value <= 1:
        return
    whole = ratio_of(view, *both, "e2e_speedup")
    told = any(
        other.metric == "e2e_speedup" and other.arm == claim.arm and _is_told(view, other)
        for other in view.report.claims
    )
    if whole is not None and whole.high < 1 and not told:
        yield Finding(
            f"{claim.arm}: {claim.value:.4g}x decode-only is {whole.value:.4g}x [{whole.low:.4g}, {whole.high:.4g}] "
            "with the prefill, and that is not claimed",
            arm=claim.arm,
            field="e2e_s",
            found=f"{whole.value:.4g}",
            allowed="at least 1, or claimed beside it",
        )


def _is_told(view: ReportView, claim: Claim) -> bool:
    """It is claimed, or one of the rules that it names does stand in its way."""
    return claim.status != "withheld" or any(_stands(view, claim, code) for code in claim.withheld_by)


def _stands(view: ReportView, claim: Claim, code: str) -> bool:
    rule = registered().get(code)
    if rule is None or code == PREFILL_LEFT_OUT or claim.metric not in rule.blocks:
        return False
    if rule.evidence is not None:
        return any(True for _ in rule.evidence(view))
    return rule.claim is not None and any(True for _ in rule.claim(view, claim))


@claim_rule(
    "SPEEDUP_SCOPE_MISMATCH",
    title="Arms timed over different scopes",
    catches="Arm and baseline whose timing scopes differ or are not recorded (unknown is not equal to unknown).",
    why="One clock that stops before the last token and one that does not measure different things.",
    fix="Time both arms by the same events and record the scope in both.",
    blocks=RATIOS,
    example=Example(bad="one arm timed in stages, the other end to end", good="both timed in stages"),
)
def scope_mismatch(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The two scopes are not known to be the same."""
    both = compared_arms(view, claim)
    if both is None:
        return
    ours, theirs = (one.timing_scope for one in both)
    if ours is None or ours != theirs:
        yield Finding(
            f"{both[0].name}: timed over {ours or 'an unrecorded scope'}, {both[1].name} over "
            f"{theirs or 'an unrecorded one'}",
            arm=both[0].name,
            field="timing_scope",
            found=ours or "none",
            allowed=theirs or "a recorded scope",
        )
