"""Claims: which ones the rows of a report can carry, and what their figures are."""

from collections.abc import Iterator
from dataclasses import dataclass

from gate import derive, results
from gate.case import Case, drafts, lossless, restores
from reports.claims import (
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
from reports.measurement import NATIVE_BASELINE_LABEL, Arm
from reports.report import Report


@dataclass(frozen=True)
class Figures:
    """Everything numeric about a claim, derived from the rows."""

    value: float
    interval: tuple[float, float] | None = None
    leave_one_out: tuple[float, float] | None = None
    committed_per_block: float | None = None
    by_position: tuple[float, ...] | None = None


def recompute(case: Case, claim: BaseClaim) -> Figures | None:
    """The figures of `claim` from the rows; none if the rows do not allow them."""
    arm = case.arms.get(claim.arm)
    if arm is None:
        return _result_figures(case, claim)
    baseline = case.arms.get(claim.baseline) if claim.baseline is not None else None
    match claim:
        case SpeedupClaim() | NullRatioClaim():
            return _ratio(arm, baseline, claim.metric) if baseline is not None else None
        case RecallClaim():
            found = derive.recall(arm)
            return _share(found) if found is not None else None
        case LosslessClaim():
            same = derive.token_identity(arm, baseline) if baseline is not None else None
            return _share(same) if same is not None else None
        case MemoryClaim():
            return _saving(case, claim, arm, baseline)
        case AcceptanceClaim():
            three = derive.acceptance(arm)
            if three is None:
                return None
            return Figures(three.rate, committed_per_block=three.committed_per_block, by_position=three.by_position)
    return None


def _result_figures(case: Case, claim: BaseClaim) -> Figures | None:
    """Claims whose rows are not arms: drafter parity and codec verdicts."""
    value = results.value_of(case, claim)
    return Figures(value) if value is not None else None


def _ratio(arm: Arm, baseline: Arm, metric: str) -> Figures | None:
    pairs = derive.paired_ratios(arm, baseline, metric)
    estimate = derive.ratio_estimate(pairs)
    if estimate is None:
        return None
    return Figures(estimate.value, (estimate.low, estimate.high), derive.leave_one_out(pairs))


def _share(found: derive.Recall) -> Figures:
    interval = derive.wilson(found)
    return Figures(interval.value, (interval.low, interval.high))


def _saving(case: Case, claim: MemoryClaim, arm: Arm, baseline: Arm | None) -> Figures | None:
    if claim.basis == "measured":
        saving = derive.kv_saving(arm, baseline) if baseline is not None else None
        return Figures(saving) if saving is not None else None
    tables = case.report.memory.arms if case.report.memory is not None else ()
    table = next((table for table in tables if table.arm == arm.name), None)
    if table is None or table.full_kv_bytes == 0:
        return None
    return Figures(1 - sum(layer.resident_bytes for layer in table.layers) / table.full_kv_bytes)


def propose(report: Report) -> tuple[Claim, ...]:
    """Every claim the report's rows could carry, figures filled in, none asserted yet (status `withheld`)."""
    case = Case(report)
    proposed: list[Claim] = []
    for claim in _candidates(case):
        figures = recompute(case, claim)
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


def _candidates(case: Case) -> Iterator[Claim]:
    oracle = case.oracle
    if oracle is not None:
        yield _recall(oracle, "oracle_recall")
        if case.null is not None:
            yield NullRatioClaim(
                name=f"null_ratio/{case.null.name}",
                metric="null_ratio",
                value=0.0,
                arm=case.null.name,
                baseline=oracle.name,
                status="withheld",
            )
    for arm in case.under_test:
        yield from _arm_candidates(case, arm)
    yield from results.candidates(case)


def _arm_candidates(case: Case, arm: Arm) -> Iterator[Claim]:
    if arm.system_under_test == NATIVE_BASELINE_LABEL:
        yield _recall(arm, "native_baseline_recall")
    elif restores(arm):
        control = case.control_of(arm)
        yield _recall(arm, "restoration_recall", control.name if control is not None else None)
    else:
        yield _recall(arm, "arm_recall")
    if drafts(arm):
        yield AcceptanceClaim(
            name=f"acceptance/{arm.name}", metric="acceptance", value=0.0, arm=arm.name, status="withheld"
        )
    if case.oracle is None:
        return
    base = case.oracle.name
    yield SpeedupClaim(
        name=f"decode_speedup/{arm.name}",
        metric="decode_speedup",
        value=0.0,
        arm=arm.name,
        baseline=base,
        status="withheld",
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
