"""What blocks allow: no more speed than the tokens they commit, no less time than a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import beside_oracle, ratio_of
from gate.claims.counted_prompts import without_loops
from gate.figures.acceptance import committed_per_block
from gate.figures.rates import median_of
from gate.figures.trend import decode_costs
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, drafts, lossless
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim

MAX_SPEEDUP_PER_COMMITTED = Threshold(
    "MAX_SPEEDUP_PER_COMMITTED",
    1.1,
    "ratio",
    meaning="Decode speed-up over committed tokens a block; above 1 only by the overhead of the oracle's own loop.",
    source="a choice: a forward of a block reads every weight, as a step does",
)


@claim_rule(
    "SPEEDUP_OVER_ACCEPTANCE",
    title="Faster than its blocks allow",
    catches="A speed-up of a lossless drafting arm that decodes faster than by the tokens it commits a block: "
    "verifying a block takes at least one step of the verifier.",
    why="A forward of a block reads the same weights as a step, so what a block commits bounds the ratio.",
    fix="Time both arms with the same clock, and count blocks in the engine.",
    blocks=RATIOS,
    example=Example(bad="3.1x with 2.0 tokens committed a block", good="1.6x with 2.9 committed a block"),
    thresholds=(MAX_SPEEDUP_PER_COMMITTED,),
)
def speedup_over_acceptance(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The decode ratio exceeds committed tokens per block."""
    for arm, baseline in beside_oracle(view, claim):
        if not (drafts(arm) and lossless(arm)):
            continue
        estimate = ratio_of(view, arm, baseline, "decode_speedup")
        committed = committed_per_block(without_loops(view, arm))
        most = (committed or 0.0) * MAX_SPEEDUP_PER_COMMITTED.value
        if estimate is not None and committed is not None and estimate.value > most:
            yield Finding(
                f"{arm.name}: decodes {estimate.value:.4g}x as fast with {committed:.4g} committed tokens a block; at "
                f"most {most:.4g}x",
                arm=arm.name,
                field="decode_s",
                found=f"{estimate.value:.4g}",
                allowed=f"at most {most:.4g}",
            )


MIN_VERIFY_STEPS = Threshold(
    "MIN_VERIFY_STEPS",
    0.75,
    "ratio",
    meaning="Median seconds to verify a block over those of a step of the oracle.",
    source="a choice: a forward of a block reads the same weights; only what surrounds a step may be saved",
)


@claim_rule(
    "SPEEDUP_VERIFY_FAST",
    title="Blocks verified in less time than a step",
    catches="A speed-up of a drafting arm whose blocks are verified, in the median, in under "
    f"{MIN_VERIFY_STEPS.value:g} of the time that a step of the oracle takes.",
    why="The forward of a block reads all weights as a step does; what is missing was billed elsewhere, or cut.",
    fix="Stop the clock of a block when the verifier's choices are on the host.",
    blocks=RATIOS,
    example=Example(
        bad="blocks of 8 verified in 12 ms, a step of the oracle takes 60 ms",
        good="blocks verified in 71 ms, a step takes 60 ms",
    ),
    thresholds=(MIN_VERIFY_STEPS,),
)
def verify_fast(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Verifying a block takes less than the step it contains."""
    for arm, baseline in beside_oracle(view, claim):
        if not drafts(arm):
            continue
        said = [row.speculation for row in arm.measurements if row.speculation is not None]
        verified = median_of(block.verify_s for one in said for block in one.rounds or ())
        step = median_of(cost.seconds for cost in decode_costs(baseline))
        if verified is not None and step is not None and verified < MIN_VERIFY_STEPS.value * step:
            yield Finding(
                f"{arm.name}: verifies a block in {verified:.4g} s, a step of {baseline.name} takes {step:.4g} s; at "
                f"least {MIN_VERIFY_STEPS.value:g} of it",
                arm=arm.name,
                field="verify_s",
                found=f"{verified:.4g}",
                allowed=f"at least {MIN_VERIFY_STEPS.value * step:.4g}",
            )
