"""Whether an effect is larger than noise: its interval, and the oracle measured against itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import adjusted_p, compared_arms, pairs_of, ratio_of
from gate.figures.statistics.ratio_estimate import span
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, decode_loops
from gate.rulebook.rule import RATIOS, SPEEDUP, Example, Finding
from gate.rulebook.thresholds import LEVEL, Threshold
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm


@claim_rule(
    "SPEEDUP_INTERVAL",
    title="An interval that contains 1",
    catches="A ratio whose 95 % interval contains 1, or that chance makes in more than 5 % of reports without any "
    "difference, counted over all ratios of the report together (Holm).",
    why="Of five equal arms the best looks faster: 2.40 was printed of a true 2.0. Who compares more must show more.",
    fix="Measure more prompts of more kinds (`--samples`), or claim nothing. A slow-down whose interval lies below 1 "
    "is a finding.",
    blocks=RATIOS,
    example=Example(bad="1.08x, interval 0.94x to 1.21x", good="1.62x, interval 1.55x to 1.70x"),
    thresholds=(LEVEL,),
)
def interval(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The paired ratio cannot be told from 1."""
    both = compared_arms(view, claim)
    if both is None:
        return
    estimate = ratio_of(view, *both, claim.metric)
    if estimate is None:
        message = f"{claim.arm}: no paired ratio can be derived from the rows"
        yield Finding(message, claim.arm, field="claims.interval", found="none", allowed="an interval without 1")
    elif estimate.contains(1.0):
        yield Finding(
            f"{claim.arm}: {estimate.value:.4g}x, 95 % interval {span(estimate)}; it contains 1",
            arm=claim.arm,
            field="claims.interval",
            found=span(estimate),
            allowed="an interval without 1",
        )
    else:
        together = adjusted_p(view)
        chance = together.get((claim.metric, both[0].name, both[1].name), 1.0)
        if chance > LEVEL.value:
            yield Finding(
                f"{claim.arm}: {estimate.value:.4g}x, 95 % interval {span(estimate)}; one of {len(together)} ratios of "
                f"this report, of which chance alone makes such a one in {chance:.2g} of reports",
                arm=claim.arm,
                field="claims.p",
                found=f"{chance:.3g}",
                allowed=f"at most {LEVEL.value:g}",
            )


@claim_rule(
    "SPEEDUP_NULL_BAND",
    title="An effect inside the run's own noise",
    catches="A ratio within the band in which the oracle differs from itself, in the same run; or a null arm that is "
    "missing, shorter than the claim, not the oracle again, or of one kind of prompt, so that it could not differ.",
    why="Without the oracle measured twice nobody knows what a ratio of 1.05 is worth on that machine.",
    fix="Measure again on an idle machine, or more prompts (`--samples`). Where there is no null arm, run the oracle "
    "again as one, as `k3 eval` does.",
    blocks=(*SPEEDUP, "null_ratio"),
    example=Example(bad="1.04x, the A/A band reaches 1.05x", good="1.62x, the A/A band is 0.98x to 1.02x"),
)
def null_band(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The effect does not leave the A/A band, or there is no such band."""
    both = compared_arms(view, claim)
    if both is None:
        return
    baseline = both[1]
    null = both[0] if claim.metric == "null_ratio" else view.null
    if null is None:
        message = f"{claim.arm}: no arm of role null; what the machine's noise is worth is not known"
        yield Finding(message, claim.arm, field="arms.role", found="none", allowed="an arm of role null")
        return
    unlike = _unlike(null, baseline)
    if unlike is not None:
        yield Finding(
            f"{null.name}: {unlike} differs from that of {baseline.name}; the null arm is the baseline again",
            arm=null.name,
            field=unlike,
            found=f"{unlike} of its own",
            allowed=f"that of {baseline.name}",
        )
        return
    noise = ratio_of(view, null, baseline, claim.metric)
    if noise is not None and not noise.bounded:
        pairs = len(pairs_of(view, null, baseline, claim.metric))
        shown = f"{pairs} pair{'s' if pairs != 1 else ''} with {baseline.name}"
        message = f"{null.name}: {shown}, all of one kind of prompt, and so no interval; a control that cannot fail"
        yield Finding(message, null.name, field="measurements", found=str(noise.groups), allowed="2 kinds of prompts")
    elif claim.metric != "null_ratio":
        yield from _inside(view, claim, both, null)


def _unlike(null: Arm, baseline: Arm) -> str | None:
    """The first respect in which the null arm is not the baseline run again."""
    if null.role != "null":
        return "role"
    for name in ("engine", "prompt_set", "timing_scope", "drafter", "restoration"):
        if getattr(null, name) != getattr(baseline, name):
            return name
    return "decode_loop" if decode_loops(null) != decode_loops(baseline) else None


def _inside(view: ReportView, claim: Claim, both: tuple[Arm, Arm], null: Arm) -> Iterator[Finding]:
    effect, noise = ratio_of(view, *both, claim.metric), ratio_of(view, null, both[1], claim.metric)
    pairs, measured = pairs_of(view, *both, claim.metric), pairs_of(view, null, both[1], claim.metric)
    if noise is None or len(measured) < len(pairs):
        yield Finding(
            f"{null.name}: {number_of(len(measured), 'pair')} with {both[1].name}, {claim.arm} has {len(pairs)}; "
            "the band needs as many",
            arm=null.name,
            field="measurements",
            found=str(len(measured)),
            allowed=f"at least {len(pairs)}",
        )
    elif effect is not None and not effect.beyond(noise):
        yield Finding(
            f"{claim.arm}: {effect.value:.4g}x is inside the band in which {null.name} differs from {both[1].name}, "
            f"{noise.value:.4g}x {span(noise)}",
            arm=claim.arm,
            field="claims.value",
            found=f"{effect.value:.4g}",
            allowed=f"further from 1 than {span(noise)}",
        )


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
