"""Whether the runs could have shown the effect: repeats, interval, noise of the machine, order, drift, warm-up."""

import math
import statistics
from collections.abc import Iterator

from gate.claims.against_baseline import pairs_of, ratio_of, sides
from gate.figures import trend
from gate.figures.intervals import Estimate
from gate.figures.paired_ratios import one_prompt_left_out, ratio_estimate, rows_by_key
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, decode_loops
from gate.rulebook.rule import SPEEDUP, Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.records.claims import Claim
from reports.records.measurement import Arm

MIN_REPEATS = Threshold(
    "MIN_REPEATS",
    3,
    "repeats",
    meaning="Paired repeats that every sample needs.",
    source="a choice: the fewest with a median that one outlier does not move",
)


@claim_rule(
    "SPEEDUP_REPEATS",
    title="Too few repeats",
    catches=f"A sample that arm and baseline did not both run in {MIN_REPEATS.value} or more repeats.",
    why="With one run a sample, the noise of the machine and the effect cannot be told apart.",
    fix=f"Run with `--repeats {MIN_REPEATS.value}` or more.",
    blocks=SPEEDUP,
    example=Example(bad="one run a prompt", good="3 runs a prompt, in alternating order"),
    thresholds=(MIN_REPEATS,),
)
def repeats(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Fewer than three paired repeats of a sample."""
    both = sides(view, claim)
    if both is None:
        return
    arm, partners = both[0], rows_by_key(both[1])
    counts = {row.sample: 0 for row in arm.measurements}
    for sample, repeat in rows_by_key(arm):
        counts[sample] += (sample, repeat) in partners
    if not counts:
        yield Finding(f"{arm.name}: no row was measured", arm.name, field="repeat", found="0", allowed="at least 3")
        return
    fewest = min(sorted(counts), key=counts.__getitem__)
    if counts[fewest] < MIN_REPEATS.value:
        short = sum(count < MIN_REPEATS.value for count in counts.values())
        yield Finding(
            f"{arm.name}: sample {fewest} has {counts[fewest]} paired repeat{'s' if counts[fewest] != 1 else ''} (as "
            f"few or fewer than needed in {short} of {len(counts)} samples); a ratio needs {MIN_REPEATS.value}",
            arm=arm.name,
            sample=fewest,
            field="repeat",
            found=str(counts[fewest]),
            allowed=f"at least {MIN_REPEATS.value}",
        )


@claim_rule(
    "SPEEDUP_INTERVAL",
    title="An interval that contains 1",
    catches="A ratio whose 95 % interval contains 1, or that falls to the other side of 1 when one prompt is left out.",
    why="1.27 became 0.97 without one of its samples: the median was carried by a single prompt.",
    fix="Measure more prompts and repeats, or claim nothing. A slow-down whose interval lies below 1 is a finding.",
    blocks=SPEEDUP,
    example=Example(bad="1.08x, interval 0.94x to 1.21x", good="1.62x, interval 1.55x to 1.70x"),
)
def interval(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The paired ratio cannot be told from 1."""
    both = sides(view, claim)
    if both is None:
        return
    estimate = ratio_of(view, *both, claim.metric)
    if estimate is None:
        message = f"{claim.arm}: no paired ratio can be derived from the rows"
        yield Finding(message, claim.arm, field="claims.interval", found="none", allowed="an interval without 1")
    elif estimate.contains(1.0):
        yield Finding(
            f"{claim.arm}: {estimate.value:.4g}x, 95 % interval {_span(estimate)}; it contains 1",
            arm=claim.arm,
            field="claims.interval",
            found=_span(estimate),
            allowed="an interval without 1",
        )
    else:
        rest = one_prompt_left_out(pairs_of(view, *both, claim.metric))
        if rest is not None and rest[0] <= 1 <= rest[1]:
            yield Finding(
                f"{claim.arm}: {estimate.value:.4g}x, but {rest[0]:.4g}x to {rest[1]:.4g}x with one prompt left out",
                arm=claim.arm,
                field="claims.leave_one_out",
                found=f"{rest[0]:.4g} to {rest[1]:.4g}",
                allowed="one side of 1",
            )


@claim_rule(
    "SPEEDUP_NULL_BAND",
    title="An effect inside the run's own noise",
    catches="A ratio within the band in which the oracle differs from itself, in the same run; or a null arm that is "
    "missing, shorter than the claim, or not the oracle again.",
    why="Without the oracle measured twice nobody knows what a ratio of 1.05 is worth on that machine.",
    fix="Run the oracle again as an arm of role null, interleaved with the others.",
    blocks=(*SPEEDUP, "null_ratio"),
    example=Example(bad="1.04x, the A/A band reaches 1.05x", good="1.62x, the A/A band is 0.98x to 1.02x"),
)
def null_band(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The effect does not leave the A/A band, or there is no such band."""
    both = sides(view, claim)
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
    if claim.metric != "null_ratio":
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
            f"{null.name}: {len(measured)} pairs with {both[1].name}, {claim.arm} has {len(pairs)}; the band needs as "
            "many",
            arm=null.name,
            field="measurements",
            found=str(len(measured)),
            allowed=f"at least {len(pairs)}",
        )
    elif effect is not None:
        width = max(abs(math.log(noise.low)), abs(math.log(noise.high)))
        band = Estimate(1.0, math.exp(-width), math.exp(width))
        if band.contains(effect.value):
            yield Finding(
                f"{claim.arm}: {effect.value:.4g}x is inside the band {_span(band)} in which {null.name} differs from "
                f"{both[1].name}",
                arm=claim.arm,
                field="claims.value",
                found=f"{effect.value:.4g}",
                allowed=f"outside {_span(band)}",
            )


@claim_rule(
    "SPEEDUP_ORDER",
    title="A ratio that depends on who runs first",
    catches="Pairs whose order is not recorded or always the same, or whose ratios, arm first and arm second, have "
    "intervals apart from each other.",
    why="The second arm finds warm caches and a hot chip; a fixed order turns that into an effect.",
    fix="Alternate the order of arms within each sample and repeat (ABBA), as `k3 eval` does.",
    blocks=SPEEDUP,
    example=Example(bad="1.9x when it runs first, 1.1x when second", good="1.63x first, 1.61x second"),
)
def order(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The order of the two arms makes the ratio, or it cannot be told."""
    both = sides(view, claim)
    pairs = pairs_of(view, *both, claim.metric) if both is not None else ()
    if not pairs:
        return
    first = [pair for pair in pairs if pair.arm_first is True]
    second = [pair for pair in pairs if pair.arm_first is False]
    if not first or not second or len(first) + len(second) < len(pairs):
        yield Finding(
            f"{claim.arm}: ran first in {len(first)} and second in {len(second)} of {len(pairs)} pairs; both orders "
            "are needed, and recorded",
            arm=claim.arm,
            field="order",
            found=f"{len(first)} first, {len(second)} second",
            allowed="both orders, in every pair recorded",
        )
        return
    shared = {pair.prompt for pair in first} & {pair.prompt for pair in second}
    ahead, behind = (ratio_estimate([pair for pair in group if pair.prompt in shared]) for group in (first, second))
    if ahead is not None and behind is not None and len(shared) > 1 and not ahead.overlaps(behind):
        yield Finding(
            f"{claim.arm}: {ahead.value:.4g}x {_span(ahead)} where it ran first, {behind.value:.4g}x {_span(behind)} "
            "where it ran second",
            arm=claim.arm,
            field="order",
            found=f"{_span(ahead)} and {_span(behind)}",
            allowed="intervals that overlap",
        )


@claim_rule(
    "SPEEDUP_DRIFT",
    title="A baseline that drifts by more than the effect",
    catches="A baseline whose rate changes from the first run to the last by a larger factor than the ratio claimed.",
    why="A chip that throttles makes whatever runs later slow, and the arm with the luckier places fast.",
    fix="Let the machine reach its steady state before the run; cool it, or run shorter.",
    blocks=SPEEDUP,
    example=Example(
        bad="the oracle slows by 40 %, the claim is 1.2x", good="the oracle slows by 2 %, the claim is 1.6x"
    ),
)
def drift(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The baseline's trend over the run is larger than the effect."""
    both = sides(view, claim)
    effect = ratio_of(view, *both, claim.metric) if both is not None else None
    factor = trend.drift(both[1], claim.metric) if both is not None else None
    if both is None or effect is None or factor is None:
        return
    if abs(math.log(factor)) > abs(math.log(effect.value)):
        yield Finding(
            f"{both[1].name}: its rate changes by a factor of {factor:.4g} over the run, more than the "
            f"{effect.value:.4g}x claimed for {claim.arm}",
            arm=both[1].name,
            field="decode_s",
            found=f"{factor:.4g}",
            allowed=f"within a factor of {math.exp(abs(math.log(effect.value))):.4g}",
        )


WARMUP_OUTLIER = Threshold(
    "WARMUP_OUTLIER",
    1.5,
    "ratio",
    meaning="First run of an arm over the median of its others, a token, above which it paid for a warm-up.",
    source="a choice; the cold start that was met took 143 s a block, then 0.3 s",
)

MIN_TIMED_RUNS = Threshold(
    "MIN_TIMED_RUNS",
    3,
    "runs",
    meaning="Runs of an arm that its first one can be told from.",
    source="a median of the others needs two of them",
)


@claim_rule(
    "SPEEDUP_WARMUP",
    title="A first run that paid for the others",
    catches=f"A first run of the arm or its baseline that took over {WARMUP_OUTLIER.value:g} times the median of "
    "its other runs, a token, with no warm-up of that arm recorded.",
    why="The first run compiles, allocates and reads weights from disk: 143 s a block, then 0.3.",
    fix="Warm every arm up over the shapes that are timed, and record it (`plan.warmups`).",
    blocks=SPEEDUP,
    example=Example(bad="the first run takes 9 s, the others 3 s", good="a recorded warm-up, then 3 s in every run"),
    thresholds=(WARMUP_OUTLIER, MIN_TIMED_RUNS),
)
def warmup(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The first run is an outlier and nothing warmed the arm up."""
    plan = view.report.plan
    warmed = {one.arm for one in (plan.warmups if plan is not None else None) or () if one.runs > 0}
    for arm in sides(view, claim) or ():
        if arm.name in warmed:
            continue
        for stage, costs in (("prefill_s", trend.prefill_costs(arm)), ("decode_s", trend.decode_costs(arm))):
            if len(costs) < MIN_TIMED_RUNS.value:
                continue
            usual = statistics.median(costs[1:])
            if costs[0] > WARMUP_OUTLIER.value * usual > 0:
                yield Finding(
                    f"{arm.name}: its first run took {costs[0] / usual:.3g} times the median of the others, a token, "
                    "and no warm-up is recorded",
                    arm=arm.name,
                    field=stage,
                    found=f"{costs[0] / usual:.3g}",
                    allowed=f"at most {WARMUP_OUTLIER.value:g}, or a warm-up",
                )


def _span(estimate: Estimate) -> str:
    return f"[{estimate.low:.4g}, {estimate.high:.4g}]"
