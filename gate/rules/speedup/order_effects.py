"""Whether it is the time at which an arm ran that made it fast: first or second, early or late, cold or warm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms, compared_ratio, pairs_of
from gate.figures import trend
from gate.figures.statistics.median import median
from gate.figures.statistics.ratio_estimate import estimate_ratio, span
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement


@claim_rule(
    "SPEEDUP_ORDER",
    title="A ratio that depends on who runs first",
    catches="Pairs whose order is not recorded or always the same, or whose ratios, arm first and arm second, have "
    "intervals apart from each other.",
    why="The second arm finds warm caches and a hot chip; a fixed order turns that into an effect.",
    fix="Run the arms of a round in a random, balanced order, as `k3 eval` does.",
    blocks=RATIOS,
    example=Example(bad="1.9x when it runs first, 1.1x when second", good="1.63x first, 1.61x second"),
)
def order(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The order of the two arms makes the ratio, or it cannot be told."""
    both = compared_arms(view, claim)
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
    ahead, behind = (estimate_ratio(pair.cell for pair in group if pair.prompt in shared) for group in (first, second))
    if ahead is not None and behind is not None and len(shared) > 1 and not ahead.overlaps(behind):
        yield Finding(
            f"{claim.arm}: {ahead.value:.4g}x {span(ahead)} where it ran first, {behind.value:.4g}x {span(behind)} "
            "where it ran second",
            arm=claim.arm,
            field="order",
            found=f"{span(ahead)} and {span(behind)}",
            allowed="intervals that overlap",
        )


@claim_rule(
    "SPEEDUP_DRIFT",
    title="A speed that changed during the run by more than the ratio says",
    catches="A baseline whose rate changes from the first run to the last by a larger factor than the ratio claimed.",
    why="A chip that throttles makes whatever runs later slow, and the arm with the luckier places fast.",
    fix="Let the machine reach its steady state before the run; cool it, or run shorter.",
    blocks=RATIOS,
    example=Example(
        bad="the oracle slows by 40 %, the claim is 1.2x", good="the oracle slows by 2 %, the claim is 1.6x"
    ),
)
def drift(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The baseline's trend over the run is larger than the effect."""
    found = compared_ratio(view, claim)
    factor = trend.drift(found.baseline, claim.metric) if found is not None else None
    if found is None or factor is None:
        return
    effect = found.estimate
    if abs(math.log(factor)) > abs(math.log(effect.value)):
        yield Finding(
            f"{found.baseline.name}: its speed at the end of the run was {factor:.4g} times that at the beginning, "
            f"which is a larger change than the {effect.value:.4g}x claimed for {claim.arm}",
            arm=found.baseline.name,
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
    catches=f"A first run of the arm or its baseline in a process that took over {WARMUP_OUTLIER.value:g} times the "
    "median of its other runs, a token, with no warm-up of that arm recorded in that process. A warm-up that says "
    "something else than the timed rows of its prompt is none.",
    why="The first run compiles, allocates and reads weights from disk: 143 s a block, then 0.3.",
    fix="Warm every arm up in every process over the shapes that are timed, and keep those rows (`warm_ups`).",
    blocks=RATIOS,
    example=Example(bad="the first run takes 9 s, the others 3 s", good="a recorded warm-up, then 3 s in every run"),
    thresholds=(WARMUP_OUTLIER, MIN_TIMED_RUNS),
)
def warmup(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The first run of a process is an outlier and nothing warmed the arm up in it."""
    for arm in compared_arms(view, claim) or ():
        cold = {row.process for row in arm.measurements} - _warm(view, arm)
        for stage, costs in (("prefill_s", trend.prefill_costs(arm)), ("decode_s", trend.decode_costs(arm))):
            for process in sorted(cold) if len(costs) >= MIN_TIMED_RUNS.value else ():
                yield from _paid(arm, stage, costs, process)


def _warm(view: ReportView, arm: Arm) -> set[int]:
    """Processes in which the arm was warmed up: by a row that says what a timed one of its prompt says.

    Reports from before warm-ups were rows had one process, and state that there was a warm-up.
    """
    if arm.warm_ups is None:
        plan = view.report.plan
        stated = (plan.warmups if plan is not None else None) or ()
        return {0} if any(one.arm == arm.name and one.runs > 0 for one in stated) else set()
    timed = {row.sample: row for row in arm.measurements}
    return {row.process for row in arm.warm_ups if row.sample in timed and _same_run(row, timed[row.sample])}


def _same_run(row: Measurement, timed: Measurement) -> bool:
    """Prompt and loop are the same, and so are the tokens as far as both go."""
    ours, theirs = row.token_ids or (), timed.token_ids or ()
    both = min(len(ours), len(theirs))
    alike = (row.prompt_digest, row.decode_loop) == (timed.prompt_digest, timed.decode_loop)
    return alike and both > 0 and ours[:both] == theirs[:both]


def _paid(arm: Arm, stage: str, costs: Sequence[trend.Cost], process: int) -> Iterator[Finding]:
    place = next((place for place, cost in enumerate(costs) if cost.process == process), None)
    if place is None:
        return
    first = costs[place].seconds
    usual = median(cost.seconds for at, cost in enumerate(costs) if at != place)
    if first > WARMUP_OUTLIER.value * usual > 0:
        within = f" of process {process}" if len({cost.process for cost in costs}) > 1 else ""
        yield Finding(
            f"{arm.name}: its first run{within} took {first / usual:.3g} times the median of the others, a token, and "
            "no warm-up is recorded",
            arm=arm.name,
            field=stage,
            found=f"{first / usual:.3g}",
            allowed=f"at most {WARMUP_OUTLIER.value:g}, or a warm-up",
        )
