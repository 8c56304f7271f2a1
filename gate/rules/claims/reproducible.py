"""Stated figures against those that the rows give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gate.claims.recompute import (
    ClaimFigures,
    RatioBasis,
    RecallLuck,
    older_intervals,
    older_ratio,
    recompute,
    without_luck,
)
from gate.figures.codecs import codec_arm
from gate.figures.estimators import acceptances, derived_rate, rate, ratios
from gate.figures.replay.confirmed import ReplayBasis
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, RECALL, REPLAY, Example, Finding, Severity
from gate.rulebook.thresholds import (
    FIGURE_TOLERANCE,
    LEVEL,
    MIN_CODEC_PROMPTS,
    NEAR_TIE_GAP,
    NEAR_TIE_GAP_BFLOAT16,
    NEAR_TIE_GAP_FLOAT16,
    REPLAY_FLOOR,
    REPLAY_TOLERANCE,
    REPLAY_TOLERANCE_ELSEWHERE,
    STATED_TOLERANCE,
    Threshold,
)
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from reports.records.claims import (
        BaseClaim,
        Claim,
    )
    from reports.records.measurement import Arm

STATED_ROUNDING = Threshold(
    "STATED_ROUNDING",
    0.0006,
    "absolute distance",
    meaning="Within it an imported ratio or share equals the derived one.",
    source="they are printed with three decimals",
)

OF_THE_INTERVAL = ("interval.low", "interval.high", "p")
"""Figures of a ratio that follow from the degrees of freedom of its interval."""

FIGURE_ROUNDING = Threshold(
    "FIGURE_ROUNDING",
    1e-12,
    "absolute distance",
    meaning="Within it a stated figure near 0 equals the derived one.",
    source="a choice: far below any figure that is printed",
)


@evidence_rule(
    "CLAIM_NOT_REPRODUCIBLE",
    title="A stated figure is not the one the rows give",
    catches="A claim, asserted or withheld, whose value, interval, extremes or acceptance figures differ from those "
    "recomputed; a claim the rows cannot give at all; a rate that a tool printed and its rows contradict; a gate block "
    "that this gate, judging again, does not arrive at.",
    why="A stored ratio is the easiest thing to edit: 2.58 is two key strokes away from 1.04.",
    fix="Let the gate write claims and gate block (`k3 eval`); never edit them.",
    example=Example(bad="claims 50x, the rows give 1.31x", good="claims 1.31x, the rows give 1.31x"),
    thresholds=(
        FIGURE_TOLERANCE,
        STATED_TOLERANCE,
        STATED_ROUNDING,
        FIGURE_ROUNDING,
        LEVEL,
        MIN_CODEC_PROMPTS,
        REPLAY_TOLERANCE,
        REPLAY_TOLERANCE_ELSEWHERE,
        REPLAY_FLOOR,
        NEAR_TIE_GAP,
        NEAR_TIE_GAP_FLOAT16,
        NEAR_TIE_GAP_BFLOAT16,
    ),
)
def claim_not_reproducible(view: ReportView) -> Iterator[Finding]:
    """A stated figure differs from the recomputed one. (The gate block is compared by `gate.judging.judge` itself.)"""
    for claim in view.report.claims:
        if view.imported:
            yield from _imported(view, claim)
        else:
            yield from _own(view, claim)
    for arm in view.report.arms:
        yield from _stated_rates(arm)


def _own(view: ReportView, claim: Claim) -> Iterator[Finding]:
    figures = recompute(view, claim)
    if figures is None:
        yield _differs(claim, "value", claim.value, "nothing: the rows do not allow it")
        return
    if older_ratio(view, claim):
        yield _older(claim, "value", claim.value, figures.value)
        return
    if claim.metric == "kv_codec_worthwhile" and figures.codec is not None and claim.verdict != figures.codec.verdict:
        message = f"{one_line(claim.name, 120)}: the verdict is stated as {claim.verdict}, the rows give "
        verdict = figures.codec.verdict
        yield Finding(
            message + verdict, claim.arm, None, "claims.verdict", str(claim.verdict), verdict, claim.name,
            "withheld" if claim.verdict is None else None,
        )  # fmt: skip
        return
    stated, derived = _figures_of(claim), _parts(figures, claim)
    if claim.metric == "kv_codec_worthwhile" and claim.samples is not None:
        codec = codec_arm(view.report.kv_quant, claim.arm)
        stated["samples"], derived["samples"] = claim.samples, len(codec.samples) if codec is not None else 0
    remade = OF_THE_INTERVAL if older_intervals(view) and claim.metric in (*RATIOS, "null_ratio") else ()
    unstated = RecallLuck.__dataclass_fields__.keys() if without_luck(view) else ()
    for field in dict.fromkeys((*stated, *derived)):
        ours, theirs = derived.get(field), stated.get(field)
        if theirs is None and field in unstated:
            if field == "p_oracle" and ours is not None and ours < LEVEL.value:  # what is left out speaks against it
                yield _older(claim, field, theirs, ours)
            continue
        if ours is None or theirs is None:
            yield _differs(claim, field, theirs, "nothing" if ours is None else f"{ours:.9g}")
        elif not _equal(theirs, ours, FIGURE_TOLERANCE.value, FIGURE_ROUNDING.value):
            older = field in remade
            yield _older(claim, field, theirs, ours) if older else _differs(claim, field, theirs, f"{ours:.9g}")


def _older(claim: Claim, field: str, stated: float | None, ours: float) -> Finding:
    message = f"{one_line(claim.name, 120)}: was written by an older rule set; `k3 gate conclude` makes it anew"
    found, allowed = "nothing" if stated is None else f"{stated:.6g}", f"{ours:.6g}"
    return Finding(message, claim.arm, None, f"claims.{field}", found, allowed, claim.name, "withheld")


def _figures_of(claim: Claim) -> dict[str, float]:
    """Every number a claim states, by its place."""
    found = {"value": claim.value}
    if claim.interval is not None:
        found |= {"interval.low": claim.interval.low, "interval.high": claim.interval.high}
    if claim.metric in ("decode_speedup", "e2e_speedup", "arm_ratio"):
        found |= _numbers({name: getattr(claim, name) for name in RatioBasis.__dataclass_fields__})
    if claim.metric == "kv_codec_worthwhile":
        found |= _numbers({"error_ratio": claim.error_ratio, "error_interval": claim.error_interval, "p": claim.p})
    if claim.metric in RECALL:
        found |= _numbers({name: getattr(claim, name) for name in RecallLuck.__dataclass_fields__})
    if claim.metric in REPLAY:
        found |= _numbers({name: getattr(claim, name) for name in ReplayBasis.__dataclass_fields__})
    if claim.metric == "acceptance":
        found |= {f"by_position.{i}": value for i, value in enumerate(claim.by_position or ())}
        if claim.committed_per_block is not None:
            found["committed_per_block"] = claim.committed_per_block
    return found


def _parts(figures: ClaimFigures, claim: Claim) -> dict[str, float]:
    """The same of the recomputed figures."""
    found = {"value": figures.value}
    if figures.interval is not None:
        found |= {"interval.low": figures.interval[0], "interval.high": figures.interval[1]}
    if figures.basis is not None:
        found |= _numbers(vars(figures.basis))
    if figures.replay is not None:
        found |= _numbers(vars(figures.replay))
    if figures.luck is not None:
        found |= _numbers(vars(figures.luck))
    if (codec := figures.codec) is not None:
        span = (codec.error.low, codec.error.high) if codec.error is not None else None
        ratio = codec.error.value if codec.error is not None else None
        found |= _numbers({"error_ratio": ratio, "error_interval": span, "p": codec.p})
    if claim.metric == "acceptance":
        found |= {f"by_position.{i}": value for i, value in enumerate(figures.by_position or ())}
        if figures.committed_per_block is not None:
            found["committed_per_block"] = figures.committed_per_block
    return found


def _numbers(basis: dict[str, float | tuple[float, float] | None]) -> dict[str, float]:
    """What is recorded of a ratio's basis, a number a place."""
    found: dict[str, float] = {}
    for name, value in basis.items():
        if isinstance(value, tuple):
            found |= {f"{name}.{index}": part for index, part in enumerate(value)}
        elif value is not None:
            found[name] = value
    return found


def _imported(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """A tool's figure must be within a hundredth, or its rounding, of what an honest estimator makes of its rows."""
    possible = list(_estimates(view, claim))
    if not possible:
        message = f"{claim.name}: {claim.value:.6g} is stated, and the rows do not give it"
        yield Finding(message, claim.arm, None, "claims", f"{claim.value:.6g}", "none", claim.name, "withheld")
    elif not any(_near(claim.value, value) for value in possible):
        allowed = ", ".join(sorted({f"{value:.4g}" for value in possible}))
        finding = _differs(claim, "value", claim.value, allowed)
        arms = [view.arms[name] for name in (claim.arm, claim.baseline or "") if name in view.arms]
        yield replace(finding, severity="withheld") if any(map(_with_gaps, arms)) else finding


_FIGURES = ("prefill_s", "decode_s", "e2e_s", "decode_tokens", "stated_decode_tok_s", "speculation")


def _with_gaps(arm: Arm) -> bool:
    """Some rows of a foreign file lack a figure that the others have: its tool may have counted them all the same."""
    lacking = ({getattr(row, name) is None for row in arm.measurements} for name in _FIGURES)
    return any(len(both) > 1 for both in lacking)


def _estimates(view: ReportView, claim: Claim) -> Iterator[float]:
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if claim.metric in (*RATIOS, "null_ratio") and arm is not None and baseline is not None:
        yield from ratios(arm, baseline, "e2e" if claim.metric == "e2e_speedup" else "decode")
    elif claim.metric == "acceptance" and arm is not None:
        found = acceptances(arm)
        yield from found.values() if claim.denominator == "unknown" else filter(None, [found.get(claim.denominator)])
    else:
        figures = recompute(view, claim)
        if figures is not None:
            yield figures.value


def _stated_rates(arm: Arm) -> Iterator[Finding]:
    for stated in arm.stated_rates:
        derived = derived_rate(arm, stated)
        if derived is not None and not _near(stated.value, derived):
            field = f"stated_rates.{stated.scope}.{stated.statistic}"
            message = f"{arm.name}: {field} is {stated.value:.6g} tok/s, the rows give {derived:.6g}"
            severity: Severity | None = "withheld" if _with_gaps(arm) else None
            found, allowed = f"{stated.value:.6g}", f"{derived:.6g}"
            yield Finding(message, arm.name, None, field, found, allowed, severity=severity)
    for row in arm.measurements:
        printed, derived = row.stated_decode_tok_s, rate(row, "decode")
        if printed is not None and derived is not None and not _near(printed, derived):
            message = f"{arm.name}, sample {row.sample}: {printed:.6g} tok/s is printed, the row gives {derived:.6g}"
            found, allowed = f"{printed:.6g}", f"{derived:.6g}"
            yield Finding(message, arm.name, row.sample, "stated_decode_tok_s", found, allowed)


def _near(stated: float, derived: float) -> bool:
    return _equal(stated, derived, STATED_TOLERANCE.value, STATED_ROUNDING.value)


def _equal(stated: float, derived: float, relative: float, absolute: float) -> bool:
    return abs(stated - derived) <= max(relative * max(abs(stated), abs(derived)), absolute)


def _differs(claim: BaseClaim, field: str, stated: float | None, derived: str) -> Finding:
    shown = "nothing" if stated is None else f"{stated:.9g}"
    message = f"{one_line(claim.name, 120)}: {field} is stated as {shown}, the rows give {derived}"
    return Finding(message, claim.arm, None, f"claims.{field}", shown, derived[:60], claim.name)
