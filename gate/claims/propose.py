"""Every claim that the rows of a report could carry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import arm_pairs
from gate.claims.in_distribution import in_distribution
from gate.claims.recompute import ClaimFigures, recompute
from gate.figures.codecs import AFFINE_4, IDENTITY, CodecComparison
from gate.figures.replay.confirmed import replay_metric
from gate.rulebook.report_view import ReportView, chooses, drafts, lossless, restores
from gate.rulebook.rule import SPEEDUP
from reports.records.claims import (
    AcceptanceClaim,
    ArmRatioClaim,
    Claim,
    Interval,
    KvQuantClaim,
    LosslessClaim,
    MemoryClaim,
    NullRatioClaim,
    ParityClaim,
    RatioClaim,
    RecallClaim,
    ReplayClaim,
    SmokeClaim,
    SpeedupClaim,
    TestsClaim,
)
from reports.records.constants import NATIVE_BASELINE_LABEL

if TYPE_CHECKING:
    from reports.records.measurement import Arm
    from reports.report import Report


def propose(report: Report) -> tuple[Claim, ...]:
    """Every claim the report's rows could carry, figures filled in, none asserted yet (status `withheld`)."""
    view = ReportView(report)
    proposed: list[Claim] = []
    for claim in candidates(view):
        figures = recompute(view, claim)
        if figures is not None:
            proposed.append(with_figures(claim, figures).replace(in_distribution=in_distribution(view, claim)))
    return tuple(proposed)


def with_figures(claim: Claim, figures: ClaimFigures) -> Claim:
    """A copy of `claim` that states `figures`."""
    changes: dict[str, object] = {"value": figures.value}
    if figures.interval is not None:
        low, high = figures.interval
        ratio = isinstance(claim, RatioClaim | NullRatioClaim)
        changes["interval"] = Interval(low=low, high=high, method="t" if ratio else "wilson")
    if figures.basis is not None:
        changes |= vars(figures.basis)
    if isinstance(claim, AcceptanceClaim):
        changes |= {"committed_per_block": figures.committed_per_block, "by_position": figures.by_position}
    if figures.luck is not None:
        changes |= vars(figures.luck)
    if figures.replay is not None:
        changes |= vars(figures.replay)
    if isinstance(claim, KvQuantClaim) and figures.codec is not None:
        changes |= stated_of(figures.codec)
    return claim.replace(**changes)


def stated_of(found: CodecComparison) -> dict[str, object]:
    """What a claim states of a comparison of codecs; the fields are those of `KvQuantClaim`."""
    error = found.error
    return {
        "verdict": found.verdict,
        "error_ratio": error.value if error is not None else None,
        "error_interval": (error.low, error.high) if error is not None else None,
        "p": found.p,
    }


def candidates(view: ReportView) -> Iterator[Claim]:
    """Every claim that a report of these arms and results may have, without figures: its rows may lack those."""
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
    for first, second in arm_pairs(view):
        name = f"arm_ratio/{first.name}/{second.name}"
        yield ArmRatioClaim(
            name=name, metric="arm_ratio", value=0.0, arm=first.name, baseline=second.name, status="withheld"
        )
    yield from _candidates_of_results(view)


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


def _candidates_of_results(view: ReportView) -> Iterator[Claim]:
    """The claim of a parity report, a smoke, a test run or a replay, and a verdict a codec of a quantisation report.

    A runtime that computes on codes has its kernel already.
    """
    parity = view.report.parity
    if parity is not None:
        name = parity.candidate_runtime
        yield ParityClaim(
            name=f"drafter_parity/{name}", metric="drafter_parity", value=0.0, arm=name, status="withheld"
        )
    smoke, tests = view.report.runtime_smoke, view.report.platform_tests
    if smoke is not None and smoke.engine is not None:
        yield SmokeClaim(
            name=f"smoke_steps/{smoke.engine}", metric="smoke_steps", value=0.0, arm=smoke.engine, status="withheld"
        )
    if tests is not None:
        suite = tests.suite[:100]
        yield TestsClaim(name=f"tests_passed/{suite}", metric="tests_passed", value=0.0, arm=suite, status="withheld")
    replay = view.report.replay
    if replay is not None:
        name = replay.original_id
        metric = replay_metric(view)
        yield ReplayClaim(name=f"{metric}/{name}", metric=metric, value=0.0, arm=name, status="withheld")
    for arm in view.report.kv_quant.arms if view.report.kv_quant is not None else ():
        if arm.name not in (IDENTITY, AFFINE_4) and arm.path != "runtime":
            yield KvQuantClaim(
                name=f"kv_codec_worthwhile/{arm.name}",
                metric="kv_codec_worthwhile",
                value=0.0,
                arm=arm.name,
                status="withheld",
                samples=len(arm.samples),
            )
