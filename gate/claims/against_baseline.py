"""A claim's arm beside its baseline: the two, their paired ratios and what these come to, derived once a report."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from gate.claims.counted_prompts import without_loops
from gate.figures.paired_ratios import Pair, paired_ratios, prompt_of
from gate.figures.statistics.ratio_estimate import RatioEstimate, estimate_ratio, holm
from gate.figures.stream_groups import merge_alike
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import SPEEDUP

if TYPE_CHECKING:
    from reports.records.claims import BaseClaim, Claim
    from reports.records.measurement import Arm

MOST_ARMS = 20
"""Arms that are compared with each other: as many as a preset may have. Pairs grow with the square."""

SHORTEST_TOLD = 33
"""Tokens of the shortest stream that tells prompts apart: answers of a dozen tokens are alike whatever was asked."""

RatioKey = tuple[str, str, str]
"""Metric, arm, baseline."""


def compared_arms(view: ReportView, claim: BaseClaim) -> tuple[Arm, Arm] | None:
    """The claim's arm and its baseline; none if the report lacks one of them or they are the same."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    return (arm, baseline) if arm is not None and baseline is not None and arm is not baseline else None


def beside_oracle(view: ReportView, claim: Claim) -> tuple[tuple[Arm, Arm], ...]:
    """Each arm of a ratio with what it is compared with; where that is another arm, both with the oracle."""
    both, oracle = compared_arms(view, claim), view.oracle
    if both is None or claim.metric != "arm_ratio":
        return () if both is None else (both,)
    return tuple((arm, oracle) for arm in both) if oracle is not None else ()


def pairs_of(view: ReportView, arm: Arm, baseline: Arm, metric: str) -> tuple[Pair, ...]:
    """The paired ratios of two arms of the report, derived once."""
    key = ("pairs", arm.name, baseline.name, _rate(metric))
    if key not in view.memo:
        both = without_loops(view, arm), without_loops(view, baseline)
        view.memo[key] = paired_ratios(*both, metric, prompt_groups(view, arm))
    found: tuple[Pair, ...] = view.memo[key]
    return found


def prompt_groups(view: ReportView, arm: Arm) -> dict[int, str]:
    """The group of every prompt of an arm, derived once a set of prompts: as recorded, a prompt without a record being
    one of its own, and groups that the oracle answered alike joined.
    """
    key = ("groups", arm.prompt_set)
    if key not in view.memo:
        groups = recorded_groups(view, arm)
        rows = view.oracle.measurements if view.oracle is not None else ()
        streams = {row.sample: ids for row in rows if len(ids := row.token_ids or ()) >= SHORTEST_TOLD}
        view.memo[key] = merge_alike(groups, streams)
    found: dict[int, str] = view.memo[key]
    return found


def recorded_groups(view: ReportView, arm: Arm) -> dict[int, str]:
    """The group of every prompt of an arm, as recorded; a prompt without a record is one of its own."""
    recorded = view.groups_of(arm.prompt_set)
    prompts = set(prompt_of(without_loops(view, arm).measurements).values())
    return {prompt: recorded.get(prompt, f"prompt {prompt}") for prompt in prompts}


def ratio_of(view: ReportView, arm: Arm, baseline: Arm, metric: str) -> RatioEstimate | None:
    """The paired ratio of two arms of the report with its interval, derived once."""
    key = ("ratio", arm.name, baseline.name, _rate(metric))
    if key not in view.memo:
        cells = (pair.cell for pair in pairs_of(view, arm, baseline, metric))
        view.memo[key] = estimate_ratio(cells, share_spent(view))
    found: RatioEstimate | None = view.memo[key]
    return found


class ComparedRatio(NamedTuple):
    """The arm of a claim, its baseline and their ratio."""

    arm: Arm
    baseline: Arm
    estimate: RatioEstimate


def compared_ratio(view: ReportView, claim: Claim) -> ComparedRatio | None:
    """What a claim compares, by its own metric; none without both arms, or without a paired row of them."""
    both = compared_arms(view, claim)
    estimate = ratio_of(view, *both, claim.metric) if both is not None else None
    return ComparedRatio(*both, estimate) if both is not None and estimate is not None else None


def share_spent(view: ReportView) -> float:
    """What the last look at the run may spend of the level; all of it where nobody looked before the end."""
    plan = view.report.plan
    if plan is None or plan.stopping is None:
        return 1.0
    return plan.stopping.share_at(plan.processes or 0)


def looks_planned(view: ReportView) -> int | None:
    """So many looks the run may have been ended at; none where nobody looked before the end."""
    stopping = view.report.plan.stopping if view.report.plan is not None else None
    return len(stopping.planned) if stopping is not None else None


def baseline_of(view: ReportView, claim: Claim) -> Arm | None:
    """The arm that a claim names as its baseline; the oracle where it names none."""
    return view.arms.get(claim.baseline) if claim.baseline is not None else view.oracle


def arm_pairs(view: ReportView) -> tuple[tuple[Arm, Arm], ...]:
    """Every two arms under test that ran the same prompts, in the order of the report; none of more than any preset
    may have."""
    if len(view.under_test) > MOST_ARMS:
        return ()
    return tuple(
        (first, second)
        for first, second in combinations(view.under_test, 2)
        if first.prompt_set == second.prompt_set and first.name != second.name
    )


def adjusted_p(view: ReportView) -> dict[RatioKey, float]:
    """The p-value of every ratio of the report, adjusted for all of them together (Holm), derived once.

    The ratios are those of each arm under test to the oracle, by decoding alone and from end to end, and of every two
    arms under test by decoding alone.
    """
    key = ("adjusted p",)
    if key not in view.memo:
        oracles = () if view.oracle is None else (view.oracle,)
        compared = [(metric, arm, oracle) for oracle in oracles for arm in view.under_test for metric in SPEEDUP]
        compared += [("arm_ratio", first, second) for first, second in arm_pairs(view)]
        found = {
            (metric, arm.name, other.name): estimate.p
            for metric, arm, other in compared
            if (estimate := ratio_of(view, arm, other, metric)) is not None
        }
        view.memo[key] = dict(zip(found, holm(list(found.values())), strict=True))
    adjusted: dict[RatioKey, float] = view.memo[key]
    return adjusted


def _rate(metric: str) -> str:
    """The rate that a metric compares."""
    return "end to end" if metric == "e2e_speedup" else "decode"
