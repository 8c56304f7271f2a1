"""Claims: which ones the rows of a report can carry, and what their figures are."""

from collections.abc import Iterator
from dataclasses import dataclass

from gate.claims import untimed
from gate.figures.acceptance import acceptance_of
from gate.figures.intervals import Estimate, Share, wilson
from gate.figures.kv_memory import analytic_saving, kv_saving, table_of
from gate.figures.paired_ratios import Pair, one_prompt_left_out, paired_ratios, ratio_estimate
from gate.figures.prompt_shares import recall_of, token_identity
from gate.rulebook.report_view import ReportView, chooses, drafts, lossless, restores
from gate.rulebook.rule import SPEEDUP
from reports.records.claims import (
    AcceptanceClaim,
    BaseClaim,
    Claim,
    Interval,
    LosslessClaim,
    MemoryClaim,
    NullRatioClaim,
    RecallClaim,
    SpeedupClaim,
)
from reports.records.measurement import NATIVE_BASELINE_LABEL, Arm
from reports.report import Report


@dataclass(frozen=True)
class Figures:
    """Everything numeric about a claim, derived from the rows."""

    value: float
    interval: tuple[float, float] | None = None
    leave_one_out: tuple[float, float] | None = None
    committed_per_block: float | None = None
    by_position: tuple[float, ...] | None = None


def sides(view: ReportView, claim: BaseClaim) -> tuple[Arm, Arm] | None:
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


def recompute(view: ReportView, claim: BaseClaim) -> Figures | None:
    """The figures of `claim` from the rows; none if the rows do not allow them."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return _result_figures(view, claim)
    baseline = view.arms.get(claim.baseline) if claim.baseline is not None else None
    match claim:
        case SpeedupClaim() | NullRatioClaim():
            return _ratio(view, claim, arm, baseline) if baseline is not None else None
        case RecallClaim():
            return _share(recall_of(arm))
        case LosslessClaim():
            return _share(token_identity(arm, baseline)) if baseline is not None else None
        case MemoryClaim():
            return _saving(view, claim, arm, baseline)
        case AcceptanceClaim():
            return _acceptance(arm)
    return None


def counted(view: ReportView, claim: BaseClaim) -> Share | None:
    """So many of so many, where the claim is about prompts or rows."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if isinstance(claim, RecallClaim) and arm is not None:
        return recall_of(arm)
    if isinstance(claim, LosslessClaim) and arm is not None and baseline is not None:
        return token_identity(arm, baseline)
    return None


def _result_figures(view: ReportView, claim: BaseClaim) -> Figures | None:
    """Claims whose rows are not arms: drafter parity and codec verdicts."""
    value = untimed.value_of(view, claim)
    return Figures(value) if value is not None else None


def _ratio(view: ReportView, claim: SpeedupClaim | NullRatioClaim, arm: Arm, baseline: Arm) -> Figures | None:
    estimate = ratio_of(view, arm, baseline, claim.metric)
    if estimate is None:
        return None
    rest = one_prompt_left_out(pairs_of(view, arm, baseline, claim.metric))
    return Figures(estimate.value, (estimate.low, estimate.high), rest)


def _share(found: Share | None) -> Figures | None:
    if found is None:
        return None
    interval = wilson(found)
    return Figures(interval.value, (interval.low, interval.high))


def _saving(view: ReportView, claim: MemoryClaim, arm: Arm, baseline: Arm | None) -> Figures | None:
    if claim.basis == "measured":
        saving = kv_saving(arm, baseline) if baseline is not None else None
    else:
        table = table_of(view, arm)
        saving = analytic_saving(table) if table is not None else None
    return Figures(saving) if saving is not None else None


def _acceptance(arm: Arm) -> Figures | None:
    three = None if chooses(arm) else acceptance_of(arm)
    if three is None:
        return None
    return Figures(three.rate, committed_per_block=three.committed_per_block, by_position=three.by_position)


def propose(report: Report) -> tuple[Claim, ...]:
    """Every claim the report's rows could carry, figures filled in, none asserted yet (status `withheld`)."""
    view = ReportView(report)
    proposed: list[Claim] = []
    for claim in _candidates(view):
        figures = recompute(view, claim)
        if figures is not None:
            proposed.append(with_figures(claim, figures))
    return tuple(proposed)


def with_figures(claim: Claim, figures: Figures) -> Claim:
    """A copy of `claim` that states `figures`."""
    changes: dict[str, object] = {"value": figures.value}
    if figures.interval is not None:
        low, high = figures.interval
        ratio = isinstance(claim, SpeedupClaim | NullRatioClaim)
        changes["interval"] = Interval(low=low, high=high, method="bootstrap" if ratio else "wilson")
    if isinstance(claim, SpeedupClaim):
        changes["leave_one_out"] = figures.leave_one_out
    if isinstance(claim, AcceptanceClaim):
        changes |= {"committed_per_block": figures.committed_per_block, "by_position": figures.by_position}
    return claim.replace(**changes)


def _candidates(view: ReportView) -> Iterator[Claim]:
    oracle = view.oracle
    if oracle is not None:
        yield _recall(oracle, "oracle_recall")
        if view.null is not None:
            yield NullRatioClaim(
                name=f"null_ratio/{view.null.name}",
                metric="null_ratio",
                value=0.0,
                arm=view.null.name,
                baseline=oracle.name,
                status="withheld",
            )
    for arm in view.under_test:
        yield from _arm_candidates(view, arm)
    yield from untimed.candidates(view)


def _arm_candidates(view: ReportView, arm: Arm) -> Iterator[Claim]:
    if arm.system_under_test == NATIVE_BASELINE_LABEL:
        yield _recall(arm, "native_baseline_recall")
    elif restores(arm):
        control = next(iter(view.controls_of(arm)), None)
        yield _recall(arm, "restoration_recall", control.name if control is not None else None)
    else:
        yield _recall(arm, "arm_recall")
    if drafts(arm) and not chooses(arm):
        yield AcceptanceClaim(
            name=f"acceptance/{arm.name}", metric="acceptance", value=0.0, arm=arm.name, status="withheld"
        )
    if view.oracle is None:
        return
    base = view.oracle.name
    for metric in SPEEDUP:
        yield SpeedupClaim.model_validate(
            {
                "name": f"{metric}/{arm.name}",
                "metric": metric,
                "value": 0.0,
                "arm": arm.name,
                "baseline": base,
                "status": "withheld",
            }
        )
    if lossless(arm):
        yield LosslessClaim(
            name=f"token_identity/{arm.name}",
            metric="token_identity",
            value=0.0,
            arm=arm.name,
            baseline=base,
            status="withheld",
        )
    else:
        yield MemoryClaim(
            name=f"kv_saving/{arm.name}",
            metric="kv_saving",
            value=0.0,
            arm=arm.name,
            baseline=base,
            status="withheld",
            basis="measured",
        )


def _recall(arm: Arm, metric: str, control: str | None = None) -> RecallClaim:
    return RecallClaim.model_validate(
        {
            "name": f"{metric}/{arm.name}",
            "metric": metric,
            "value": 0.0,
            "arm": arm.name,
            "status": "withheld",
            "control": control,
        }
    )
