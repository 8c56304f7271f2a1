"""Figures that no machine can produce: more speed than tokens a block, the same work at two speeds."""

import statistics
from collections.abc import Iterator

from gate.claims.against_baseline import ratio_of, sides
from gate.figures.acceptance import committed_per_block
from gate.figures.rates import median_of
from gate.figures.trend import decode_costs
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, drafts, lossless, row_key
from gate.rulebook.rule import SPEEDUP, Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.records.claims import Claim
from reports.records.measurement import Arm

MAX_NULL_RATIO = Threshold(
    "MAX_NULL_RATIO",
    1.1,
    "ratio",
    meaning="A/A ratio, either way, that noise around an interval without 1 may still have.",
    source="a choice: the shipped evidence stays within 1.05",
)


@claim_rule(
    "NULL_RATIO_OFF",
    title="The oracle is not as fast as itself",
    catches="An A/A ratio whose 95 % interval excludes 1 and that is over 10 % away from it.",
    why="The same computation twice differs by noise; a systematic difference is another load, or an edited arm.",
    fix="Measure again on an idle machine; leave the times as they were measured.",
    blocks=(*SPEEDUP, "null_ratio"),
    example=Example(bad="an A/A ratio of 1.31x, interval 1.22x to 1.40x", good="an A/A ratio of 1.00x"),
    thresholds=(MAX_NULL_RATIO,),
)
def null_ratio_off(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The oracle and the oracle again differ beyond noise."""
    null, oracle = view.null, view.oracle
    noise = ratio_of(view, null, oracle, claim.metric) if null is not None and oracle is not None else None
    if null is None or oracle is None or noise is None or noise.contains(1.0):
        return
    most = MAX_NULL_RATIO.value
    if not 1 / most <= noise.value <= most:
        yield Finding(
            f"{null.name}: {noise.value:.4g}x of {oracle.name} [{noise.low:.4g}, {noise.high:.4g}], the same "
            f"computation; {1 / most:.3g} to {most:.3g} is noise",
            arm=null.name,
            field="decode_s",
            found=f"{noise.value:.4g}",
            allowed=f"{1 / most:.3g} to {most:.3g}",
        )


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
    blocks=SPEEDUP,
    example=Example(bad="3.1x with 2.0 tokens committed a block", good="1.6x with 2.9 committed a block"),
    thresholds=(MAX_SPEEDUP_PER_COMMITTED,),
)
def speedup_over_acceptance(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The decode ratio exceeds committed tokens per block."""
    both = sides(view, claim)
    if both is None or not (drafts(both[0]) and lossless(both[0])):
        return
    estimate, committed = ratio_of(view, *both, "decode_speedup"), committed_per_block(both[0])
    if estimate is None or committed is None:
        return
    most = committed * MAX_SPEEDUP_PER_COMMITTED.value
    if estimate.value > most:
        yield Finding(
            f"{claim.arm}: decodes {estimate.value:.4g}x as fast with {committed:.4g} committed tokens a block; at "
            f"most {most:.4g}x",
            arm=claim.arm,
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
    blocks=SPEEDUP,
    example=Example(
        bad="blocks of 8 verified in 12 ms, a step of the oracle takes 60 ms",
        good="blocks verified in 71 ms, a step takes 60 ms",
    ),
    thresholds=(MIN_VERIFY_STEPS,),
)
def verify_fast(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Verifying a block takes less than the step it contains."""
    both = sides(view, claim)
    if both is None or not drafts(both[0]):
        return
    said = [row.speculation for row in both[0].measurements if row.speculation is not None]
    verified = median_of(block.verify_s for one in said for block in one.rounds or ())
    step = median_of(decode_costs(both[1]))
    if verified is not None and step is not None and verified < MIN_VERIFY_STEPS.value * step:
        yield Finding(
            f"{claim.arm}: verifies a block in {verified:.4g} s, a step of {both[1].name} takes {step:.4g} s; at least "
            f"{MIN_VERIFY_STEPS.value:g} of it",
            arm=claim.arm,
            field="verify_s",
            found=f"{verified:.4g}",
            allowed=f"at least {MIN_VERIFY_STEPS.value * step:.4g}",
        )


MAX_PREFILL_RATIO = Threshold(
    "MAX_PREFILL_RATIO",
    1.25,
    "ratio",
    meaning="Oracle's over arm's prefill seconds, median of pairs, where both read the prompt into the same "
    "native cache.",
    source="a choice: one computation, so noise alone is left",
)


@claim_rule(
    "SPEEDUP_PREFILL_UNEQUAL",
    title="The same prefill at two speeds",
    catches="An end-to-end speed-up of an arm that reads prompts as the oracle does, into the same cache, and is said "
    "to read them over a quarter faster.",
    why="21 s against 146 s for identical prefills made 2.58x.",
    fix="Interleave the arms on an idle machine, and claim the decode-only ratio.",
    blocks=("e2e_speedup",),
    example=Example(
        bad="1.5x end to end, all of it from a prefill that is the oracle's own", good="1.5x end to end, equal prefills"
    ),
    thresholds=(MAX_PREFILL_RATIO,),
)
def prefill_unequal(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Prefill of a native cache is one computation, whoever decodes."""
    both = sides(view, claim)
    if both is None:
        return
    arm, baseline = both
    if arm.restoration is not None and arm.restoration.mode != "none":
        return
    theirs = {row_key(row): row.prefill_s for row in baseline.measurements}
    ratios = [
        slower / row.prefill_s for row in arm.measurements if row.prefill_s and (slower := theirs.get(row_key(row)))
    ]
    if ratios and statistics.median(ratios) > MAX_PREFILL_RATIO.value:
        found, most = f"{statistics.median(ratios):.4g}", f"at most {MAX_PREFILL_RATIO.value:g}"
        message = f"{arm.name}: prefills {found} times as fast as {baseline.name}, the same computation; {most}"
        yield Finding(message, arm.name, None, "prefill_s", found, most)


MAX_SAME_WORK_RATIO = Threshold(
    "MAX_SAME_WORK_RATIO",
    1.25,
    "ratio",
    meaning="Decode speed-up of an arm that computes what the oracle computes, over the same K/V, in a loop "
    "of its own.",
    source="a choice: only the overhead of the loop differs",
)


@claim_rule(
    "SPEEDUP_SAME_WORK",
    title="The same computation, and faster",
    catches="A speed-up of an arm that neither drafts nor evicts, or keeps what it restored, and is said to decode "
    f"over {MAX_SAME_WORK_RATIO.value:g} times as fast as the oracle.",
    why="A step reads every weight and all K/V, whoever asks for it; a plain loop gains nothing but its overhead.",
    fix="Time both arms with the same clock, on an idle machine; a faster kernel is a peer of another engine.",
    blocks=SPEEDUP,
    example=Example(bad="a plain loop over the native cache, 1.8x", good="the same loop, 0.94x"),
    thresholds=(MAX_SAME_WORK_RATIO,),
)
def same_work(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """A plain step over the same cache is faster than the oracle's."""
    both = sides(view, claim)
    if both is None or not _same_work(both[0]):
        return
    estimate, most = ratio_of(view, *both, "decode_speedup"), MAX_SAME_WORK_RATIO.value
    if estimate is not None and estimate.value > most:
        yield Finding(
            f"{claim.arm}: decodes {estimate.value:.4g} times as fast as {both[1].name}, which computes the same; at "
            f"most {most:g}",
            arm=claim.arm,
            field="decode_s",
            found=f"{estimate.value:.4g}",
            allowed=f"at most {most:g}",
        )


def _same_work(arm: Arm) -> bool:
    """No drafts, and no fewer K/V than the oracle reads."""
    kept = arm.restoration
    return not drafts(arm) and (kept is None or kept.mode == "none" or kept.residency == "resident")
