"""Arms that lose something in their cache, and what may be said of their speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms
from gate.figures.prompt_shares import token_identity
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, lossless, restoration_of
from gate.rulebook.rule import RATIOS, Example, Finding

if TYPE_CHECKING:
    from reports.records.claims import Claim


@claim_rule(
    "SPEEDUP_LOSSY",
    title="Faster at saying something else",
    catches="A speed-up of an arm that drops K/V and puts back an approximation or nothing, if any of its answers is "
    "not the plain model's, token for token, or has no token ids.",
    why="Such an arm checks its drafts against its own cache. What is lost there is lost in every token, and an answer "
    "that went astray may well be easier to draft.",
    fix="Claim the arm's recall and saving; compare its speed with the same restoration decoded step by step.",
    blocks=RATIOS,
    example=Example(
        bad="a fused arm over f_theta at 1.6x that continues 17 of 20 prompts as the oracle does",
        good="the same ratio of an arm that continues all 20 so",
    ),
)
def speedup_lossy(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """A lossy arm is said to be faster, and did not do the oracle's work."""
    both = compared_arms(view, claim)
    arm = both[0 if claim.value > 1 else -1] if both is not None else None
    baseline = view.oracle if claim.metric == "arm_ratio" else both[1] if both is not None else None
    if arm is None or baseline is None or arm is baseline or lossless(arm):
        return
    same = token_identity(arm, baseline)
    if same is None or same.correct < same.total:
        found = f"{same.correct} of {same.total}" if same is not None else "an unknown number of"
        mode = restoration_of(arm).mode
        yield Finding(
            f"{arm.name}: restores by {mode}, and answers {found} prompts as {baseline.name} does, token for token",
            arm=arm.name,
            field="token_ids",
            found=found,
            allowed="every prompt",
        )
