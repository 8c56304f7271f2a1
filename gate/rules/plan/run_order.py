"""The order of the runs: as it is recorded twice, and as it must be for arms to be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView, row_key
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.plan import Run
    from reports.schedule import ScheduledArm


@evidence_rule(
    "RUN_ORDER",
    title="Rows and the recorded order disagree",
    catches="A row whose position is not the place of its (arm, sample, repeat) in `plan.order`, an order that has "
    "gaps or other runs than the rows, or another than its `order_seed` gives; without one, another than K3 ran before "
    "orders had a seed: forwards and backwards in turn.",
    why="Drift, warm-up and interleaving are judged by the order; edited in one place, it contradicts the other.",
    fix="Let the runner write down the order; do not move rows.",
    example=Example(bad="a row that says 7th, a plan that says 9th", good="rows and plan give the same order"),
)
def run_order(view: ReportView) -> Iterator[Finding]:
    """`order` of the rows and `plan.order` do not say the same."""
    order = view.report.plan.order if view.report.plan is not None else None
    if order is None:
        return
    places = {(run.arm, run.sample, run.repeat, run.process): place for place, run in enumerate(order)}
    rows = 0
    for arm in view.report.arms:
        for row in arm.measurements:
            rows += 1
            place = places.get((arm.name, *row_key(row)))
            if place is None or row.order != place:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: ran as number {row.order}, in plan.order "
                    f"it is {'missing' if place is None else f'number {place}'}",
                    arm=arm.name,
                    sample=row.sample,
                    field="order",
                    found=str(row.order),
                    allowed=str(place),
                )
    if len(order) != rows:
        message = f"plan.order: {number_of(len(order), 'run')}, {number_of(rows, 'row')} measured"
        yield Finding(message, field="plan.order", found=str(len(order)), allowed=str(rows))
    yield from _not_as_scheduled(view, order)


def _not_as_scheduled(view: ReportView, order: tuple[Run, ...]) -> Iterator[Finding]:
    """The order is derived again; not for more rounds than there are runs, whatever the plan says."""
    plan = view.report.plan
    if plan is None or view.imported or not view.report.arms:
        return
    from reports.schedule import ScheduledArm, schedule

    samples, repeats, processes = plan.samples or 0, plan.repeats or 0, 1 if plan.processes is None else plan.processes
    arms = [
        ScheduledArm(arm.name, 1 + max((r.repeat for r in arm.measurements), default=0)) for arm in view.report.arms
    ]
    planned: list[Run] = []
    if 0 < samples * repeats * processes <= len(order):
        for process in range(processes):
            if plan.order_seed is None:
                planned += _in_turn(arms, samples, repeats, process)
            else:
                planned += schedule(arms, samples=samples, repeats=repeats, process=process, seed=plan.order_seed)
    if tuple(planned) != order:
        place = next((n for n, (a, b) in enumerate(zip(planned, order, strict=False)) if a != b), len(planned))
        how = (
            f"seed {plan.order_seed}" if plan.order_seed is not None else "no seed, and forwards and backwards in turn"
        )
        message = f"plan.order: {how} gives another order from run {place} on"
        yield Finding(message, field="plan.order", found=f"{len(order)} runs", allowed=f"the {len(planned)} planned")


def _in_turn(arms: Sequence[ScheduledArm], samples: int, repeats: int, process: int) -> Iterator[Run]:
    """The order of before orders had a seed: every other round backwards."""
    from reports.records.plan import Run

    for repeat in range(repeats):
        for sample in range(samples):
            for arm in arms[::-1] if (sample + repeat) % 2 else arms:
                if repeat < arm.repeats:
                    yield Run(arm=arm.name, sample=sample, repeat=repeat, process=process)


@claim_rule(
    "ARMS_NOT_INTERLEAVED",
    title="One arm ran before the other",
    catches="A compared pair whose order is not recorded, that ran with other samples or repeats in between, or that "
    "always ran in the same order.",
    why="A machine that warms up or throttles makes whatever ran first look better or worse.",
    fix="Within each sample and repeat run every arm, forwards and backwards in turn or in a balanced random order.",
    blocks=(*RATIOS, "null_ratio"),
    example=Example(bad="all runs of the oracle, then all of the arm", good="oracle, arm, arm, oracle, ..."),
)
def arms_not_interleaved(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The rows of arm and baseline did not run side by side."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if arm is None or baseline is None:
        return
    both = f"{arm.name} and {baseline.name}"
    partners = {row_key(row): row.order for row in baseline.measurements}
    pairs = [(row.order, partners[row_key(row)]) for row in arm.measurements if row_key(row) in partners]
    known = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
    if len(known) < len(pairs) or not pairs:
        message = f"{both}: the order of {len(known)} of {len(pairs)} pairs is recorded"
        yield Finding(message, arm.name, None, "order", str(len(known)), str(max(1, len(pairs))))
        return
    apart = max(abs(ours - theirs) for ours, theirs in known)
    most = len(view.report.arms) - 1
    if apart > most:
        message = f"{both}: up to {apart - 1} other runs lie between a pair; side by side it is at most {most - 1}"
        yield Finding(message, arm.name, None, "order", str(apart - 1), f"at most {most - 1}")
    first = sum(ours < theirs for ours, theirs in known)
    if len(known) > 1 and first in (0, len(known)):
        message = f"{both}: {arm.name} ran {'first' if first else 'second'} in all {len(known)} pairs"
        yield Finding(message, arm.name, None, "order", str(first), f"1 to {len(known) - 1}")


MAX_TORN_PAIRS = Threshold(
    "MAX_TORN_PAIRS",
    0.1,
    "share of pairs",
    meaning="Pairs of which one run was made before an interruption and the other after it.",
    source="a choice: what so few do to a mean over groups is less than noise does",
)

TORN_PAIRS = Threshold(
    "TORN_PAIRS", 2, "pairs", meaning="The same of few pairs.", source="a run that is killed twice tears two at most"
)


@claim_rule(
    "PAIRS_TORN",
    title="Pairs with an interruption between them",
    catches=f"A ratio of which more than {TORN_PAIRS.value} pairs, and more than {MAX_TORN_PAIRS.value:.0%} of all, "
    "have one run before a resumption and one after it.",
    why="Two runs of a pair are compared since they ran side by side; a month apart they are of two machines.",
    fix="Let the run go through; after an interruption start anew.",
    blocks=(*RATIOS, "null_ratio"),
    example=Example(bad="resumed a month later inside each of 18 pairs", good="resumed once, between two rounds"),
    thresholds=(TORN_PAIRS, MAX_TORN_PAIRS),
    since=4,
)
def pairs_torn(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Resumptions lie between the runs of pairs."""
    arm, baseline, plan = view.arms.get(claim.arm), view.arms.get(claim.baseline or ""), view.report.plan
    if arm is None or baseline is None or plan is None or not plan.resumes:
        return
    places = [one.order for one in plan.resumes]
    partners = {row_key(row): row.order for row in baseline.measurements}
    torn, pairs = 0, 0
    for row in arm.measurements:
        other = partners.get(row_key(row))
        if row.order is not None and other is not None:
            first, last = sorted((row.order, other))
            pairs, torn = pairs + 1, torn + any(first < place <= last for place in places)
    most = max(TORN_PAIRS.value, MAX_TORN_PAIRS.value * pairs)
    if torn > most:
        message = f"{arm.name} and {baseline.name}: {torn} of {pairs} pairs were interrupted; at most {most:.0f} may be"
        yield Finding(message, arm.name, None, "plan.resumes", str(torn), f"at most {most:.0f}")
