"""The figures of a claim, made again from the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gate.claims.against_baseline import adjusted_p, looks_planned, ratio_of
from gate.claims.counted_prompts import left_out, without_loops
from gate.figures.acceptance import acceptance_of
from gate.figures.codecs import CodecComparison, codec_comparison
from gate.figures.conduct.smoke import smoke_passed
from gate.figures.conduct.test_results import tests_passed
from gate.figures.drafter_parity import agreement
from gate.figures.kv_memory import analytic_saving, kv_saving, table_of
from gate.figures.paired_ratios import ratio_of_totals
from gate.figures.prompt_shares import recall_of, token_identity, told_apart
from gate.figures.replay.confirmed import Confirmed, ReplayBasis, confirmed, replay_metric
from gate.figures.statistics.exact_tests import mcnemar
from gate.figures.statistics.intervals import Share, wilson
from gate.rulebook.report_view import ReportView, chooses
from gate.rulebook.rule import RATIOS, RECALL, REPLAY

if TYPE_CHECKING:
    from reports.records.claims import (
        Claim,
        MemoryClaim,
        NullRatioClaim,
        RatioClaim,
        RecallClaim,
    )
    from reports.records.measurement import Arm

GEOMETRIC_SINCE = 3
"""The rule set from which on ratios are geometric means over groups and processes."""

INTERVALS_SINCE = 6
"""The rule set from which on a ratio's interval has the degrees of freedom that it has now."""

LUCK_SINCE = 6
"""The rule set from which on claims of recall state what luck makes of them."""


@dataclass(frozen=True)
class RatioBasis:
    """What a ratio stands on; the fields are those of `RatioClaim`."""

    groups: int
    prompts: int
    left_out: int | None
    processes: int
    p: float
    ratios: int
    looks: int | None
    end_to_end: float | None
    ratio_of_totals: float | None
    leave_one_out: tuple[float, float] | None


@dataclass(frozen=True)
class RecallLuck:
    """An arm's recall beside that of its control and of the oracle on the same prompts (exact McNemar), none where
    there is no such arm or not every row is scored; the fields are those of `RecallClaim`."""

    p_control: float | None
    p_oracle: float | None


@dataclass(frozen=True)
class ClaimFigures:
    """Everything numeric about a claim, derived from the rows."""

    value: float
    interval: tuple[float, float] | None = None
    basis: RatioBasis | None = None
    committed_per_block: float | None = None
    by_position: tuple[float, ...] | None = None
    codec: CodecComparison | None = None
    replay: ReplayBasis | None = None
    luck: RecallLuck | None = None


def recompute(view: ReportView, claim: Claim) -> ClaimFigures | None:
    """The figures of `claim` from the rows; none if the rows do not allow them."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return _of_results(view, claim)
    baseline = view.arms.get(claim.baseline) if claim.baseline is not None else None
    match claim.metric:
        case "decode_speedup" | "e2e_speedup" | "arm_ratio" | "null_ratio":
            return _ratio(view, claim, arm, baseline) if baseline is not None else None
        case "oracle_recall" | "native_baseline_recall" | "restoration_recall" | "arm_recall":
            return _recall(view, claim, arm)
        case "token_identity":
            return _share(token_identity(arm, baseline)) if baseline is not None else None
        case "kv_saving":
            return _saving(view, claim, arm, baseline)
        case "acceptance":
            return _acceptance(without_loops(view, arm))
    return None


def counted(view: ReportView, claim: Claim) -> Share | None:
    """So many of so many, where the claim is about prompts or rows."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if claim.metric in RECALL and arm is not None:
        return recall_of(arm)
    if claim.metric == "token_identity" and arm is not None and baseline is not None:
        return token_identity(arm, baseline)
    if claim.metric in REPLAY:
        found = _of_replay(view, claim)
        return Share(found.same + found.basis.near_ties, found.basis.drawn) if found is not None else None
    return _of_conduct(view, claim) if claim.metric in ("smoke_steps", "tests_passed") else None


def _ratio(view: ReportView, claim: RatioClaim | NullRatioClaim, arm: Arm, baseline: Arm) -> ClaimFigures | None:
    estimate = ratio_of(view, arm, baseline, claim.metric)
    if estimate is None:
        return None
    interval = (estimate.low, estimate.high) if estimate.bounded else None
    if claim.metric == "null_ratio":
        return ClaimFigures(estimate.value, interval)
    together = adjusted_p(view)
    basis = RatioBasis(
        groups=estimate.groups,
        prompts=estimate.prompts,
        left_out=len(left_out(view)) or None,
        processes=estimate.processes,
        p=together.get((claim.metric, arm.name, baseline.name), 1.0),
        ratios=len(together),
        looks=looks_planned(view),
        end_to_end=_end_to_end(view, claim, arm, baseline),
        ratio_of_totals=ratio_of_totals(without_loops(view, arm), without_loops(view, baseline), claim.metric),
        leave_one_out=estimate.leave_one_out,
    )
    return ClaimFigures(estimate.value, interval, basis)


def _end_to_end(view: ReportView, claim: RatioClaim, arm: Arm, baseline: Arm) -> float | None:
    """What a decode-only ratio comes to with the prefill; none where it has no such rows, or is that ratio itself."""
    whole = ratio_of(view, arm, baseline, "e2e_speedup") if claim.metric != "e2e_speedup" else None
    return whole.value if whole is not None else None


def older_ratio(view: ReportView, claim: Claim) -> bool:
    """The claim is a ratio that a rule set before 3 wrote: a median with a bootstrap interval. It is made anew by
    `k3 gate conclude`, and until then it is not the figure that is judged."""
    return _judged_before(view, GEOMETRIC_SINCE) and claim.metric in (*RATIOS, "null_ratio")


def older_intervals(view: ReportView) -> bool:
    """A rule set before 6 made the report's intervals: narrower ones where processes show. `k3 gate conclude` makes
    them anew, and until then they are not those that are judged."""
    return _judged_before(view, INTERVALS_SINCE)


def without_luck(view: ReportView) -> bool:
    """A rule set before 6 wrote the report's claims, so those of recall may lack the figures of `RecallLuck`."""
    return _judged_before(view, LUCK_SINCE)


def _judged_before(view: ReportView, rule_set: int) -> bool:
    return view.report.gate is not None and view.report.gate.rule_set < rule_set


def _recall(view: ReportView, claim: RecallClaim, arm: Arm) -> ClaimFigures | None:
    figures = _share(recall_of(arm))
    if figures is None or claim.metric == "oracle_recall":
        return figures
    control = view.arms.get(claim.control or "")
    over_control = told_apart(arm, control) if control is not None else None
    over_oracle = told_apart(arm, view.oracle) if view.oracle is not None else None
    luck = RecallLuck(
        mcnemar(*over_control) if over_control is not None else None,
        mcnemar(*reversed(over_oracle)) if over_oracle is not None else None,
    )
    return replace(figures, luck=luck)


def _share(found: Share | None) -> ClaimFigures | None:
    if found is None:
        return None
    interval = wilson(found)
    return ClaimFigures(interval.value, (interval.low, interval.high))


def _saving(view: ReportView, claim: MemoryClaim, arm: Arm, baseline: Arm | None) -> ClaimFigures | None:
    if claim.basis == "measured":
        saving = kv_saving(arm, baseline) if baseline is not None else None
    else:
        table = table_of(view, arm)
        saving = analytic_saving(table) if table is not None else None
    return ClaimFigures(saving) if saving is not None else None


def _acceptance(arm: Arm) -> ClaimFigures | None:
    three = None if chooses(arm) else acceptance_of(arm)
    if three is None:
        return None
    return ClaimFigures(three.rate, committed_per_block=three.committed_per_block, by_position=three.by_position)


def _of_conduct(view: ReportView, claim: Claim) -> Share | None:
    """Steps of a smoke, cases of a test run; no sample of anything, so they have no interval."""
    if claim.metric == "smoke_steps":
        smoke = view.report.runtime_smoke
        return smoke_passed(smoke) if smoke is not None and claim.arm == smoke.engine else None
    tests = view.report.platform_tests
    return tests_passed(tests) if tests is not None and claim.arm == tests.suite[:100] else None


def _of_replay(view: ReportView, claim: Claim) -> Confirmed | None:
    replay = view.report.replay
    if replay is None or claim.arm != replay.original_id or claim.metric != replay_metric(view):
        return None
    return confirmed(view)


def _of_results(view: ReportView, claim: Claim) -> ClaimFigures | None:
    """Claims whose rows are not arms: of a drafter's parity, a smoke, a test run, a replay; the verdict on a codec."""
    if claim.metric in REPLAY:
        found = _of_replay(view, claim)
        return ClaimFigures(found.share, replay=found.basis) if found is not None else None
    if claim.metric in ("smoke_steps", "tests_passed"):
        share = _of_conduct(view, claim)
        return ClaimFigures(share.rate) if share is not None else None
    if claim.metric == "drafter_parity":
        parity = view.report.parity
        value = agreement(parity) if parity is not None and parity.candidate_runtime == claim.arm else None
        return ClaimFigures(value) if value is not None else None
    codec = codec_comparison(view, claim.arm) if claim.metric == "kv_codec_worthwhile" else None
    return ClaimFigures(float(codec.verdict == "better"), codec=codec) if codec is not None else None
