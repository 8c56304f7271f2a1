"""A claim's arm beside its baseline: the two, their paired ratios and what these come to, derived once a report."""

from gate.figures.paired_ratios import Pair, paired_ratios, ratio_estimate
from gate.figures.statistics.intervals import Estimate
from gate.rulebook.report_view import ReportView
from reports.records.claims import (
    BaseClaim,
    Claim,
)
from reports.records.measurement import Arm


def compared_arms(view: ReportView, claim: BaseClaim) -> tuple[Arm, Arm] | None:
    """The claim's arm and its baseline; none if the report lacks one of them or they are the same."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    return (arm, baseline) if arm is not None and baseline is not None and arm is not baseline else None


def pairs_of(view: ReportView, arm: Arm, baseline: Arm, metric: str) -> tuple[Pair, ...]:
    """The paired ratios of two arms of the report, derived once."""
    key = ("pairs", arm.name, baseline.name, "e2e_speedup" if metric == "e2e_speedup" else "decode_speedup")
    if key not in view.memo:
        view.memo[key] = paired_ratios(arm, baseline, metric)
    found: tuple[Pair, ...] = view.memo[key]
    return found


def ratio_of(view: ReportView, arm: Arm, baseline: Arm, metric: str) -> Estimate | None:
    """The paired ratio of two arms of the report with its interval, derived once."""
    key = ("ratio", arm.name, baseline.name, "e2e_speedup" if metric == "e2e_speedup" else "decode_speedup")
    if key not in view.memo:
        view.memo[key] = ratio_estimate(pairs_of(view, arm, baseline, metric))
    found: Estimate | None = view.memo[key]
    return found


def baseline_of(view: ReportView, claim: Claim) -> Arm | None:
    """The arm that a claim names as its baseline; the oracle where it names none."""
    return view.arms.get(claim.baseline) if claim.baseline is not None else view.oracle
