"""Codecs of the K/V cache over their samples: bits a value, error, recall, and whether one is worth a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gate.figures.rates import mean_of
from gate.figures.statistics.exact_tests import mcnemar
from gate.figures.statistics.ratio_estimate import PairedRepeat, RatioEstimate, estimate_ratio, holm
from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import LEVEL, MIN_CODEC_PROMPTS

if TYPE_CHECKING:
    from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult

AFFINE_4 = "affine4"

IDENTITY = "identity"

CodecVerdict = Literal["better", "worse", "undecided"]


@dataclass(frozen=True)
class CodecFigures:
    """A codec over its samples, each figure none where nothing gives it.

    `recall` is of the first question; `answered` of both, the second asked after the K/V were saved and loaded.
    """

    bits: float | None
    error: float | None
    recall: float | None
    answered: float | None


def codec_arm(result: KvQuantResult | None, name: str) -> CodecArm | None:
    """The arm of this name; failing that, of this codec."""
    arms = result.arms if result is not None else ()
    return next((arm for arm in arms if arm.name == name), next((arm for arm in arms if arm.codec == name), None))


def codec_figures(arm: CodecArm) -> CodecFigures:
    """Bits a value, error and recall from the samples; as printed where the samples lack one."""
    bits = mean_of(_bits(row) for row in arm.samples)
    error = mean_of(_error(row) for row in arm.samples)
    recall = mean_of(row.correct for row in arm.samples)
    second = mean_of(row.second.correct if row.second is not None else None for row in arm.samples)
    recall = recall if recall is not None else arm.stated_recall
    return CodecFigures(
        bits if bits is not None else arm.stated_bits,
        error if error is not None else arm.stated_relative_error,
        recall,
        (recall + second) / 2 if recall is not None and second is not None else recall,
    )


def _bits(row: CodecSample) -> float | None:
    return 8 * row.stored_bytes / row.values if row.stored_bytes is not None and row.values else None


def _error(row: CodecSample) -> float | None:
    if row.relative_error_k is not None and row.relative_error_v is not None:
        return (row.relative_error_k + row.relative_error_v) / 2
    return row.relative_error


@dataclass(frozen=True)
class CodecComparison:
    """A codec against affine 4, prompt by prompt.

    `error` is the ratio of their errors, `p` its probability without a difference, adjusted for all codecs of the
    report (Holm); `p_lost` is that of losing as many answers, adjusted alike. Both none where nothing is paired.
    """

    verdict: CodecVerdict
    error: RatioEstimate | None
    p: float | None
    p_lost: float | None


@dataclass(frozen=True)
class _Pairing:
    """Errors and answers of the same prompts."""

    error: RatioEstimate
    gained: int
    lost: int


def codec_comparison(view: ReportView, name: str) -> CodecComparison | None:
    """The verdict on a codec, and what it stands on; none if a figure of the codec or of affine 4 is missing.

    Better: at no more bits it errs less, shown over the prompts, and loses no answer on balance. Worse: it takes more
    bits, or is shown to err more or to lose answers. Undecided is whatever is left, as everything is over too few
    prompts.
    """
    result = view.report.kv_quant
    arm, reference = codec_arm(result, name), codec_arm(result, AFFINE_4)
    if arm is None or reference is None:
        return None
    ours, theirs = codec_figures(arm), codec_figures(reference)
    if None in (ours.bits, theirs.bits, ours.error, theirs.error, ours.recall, theirs.recall):
        return None
    more = (ours.bits or 0.0) > (theirs.bits or 0.0)
    paired = _comparisons(view).get(arm.name)
    if paired is None:
        return CodecComparison("worse" if more else "undecided", None, None, None)
    pairing, p, p_lost = paired
    errs_otherwise = p <= LEVEL.value
    if more or (errs_otherwise and pairing.error.value > 1) or p_lost <= LEVEL.value:
        verdict: CodecVerdict = "worse"
    else:
        better = errs_otherwise and pairing.error.value < 1 and pairing.gained >= pairing.lost
        verdict = "better" if better else "undecided"
    return CodecComparison(verdict, pairing.error, p, p_lost)


def _comparisons(view: ReportView) -> dict[str, tuple[_Pairing, float, float]]:
    """Every codec that is paired with affine 4 over enough prompts, with its adjusted probabilities; derived once."""
    key = ("codecs",)
    if key not in view.memo:
        result = view.report.kv_quant
        reference = codec_arm(result, AFFINE_4)
        arms = [] if result is None or reference is None else [one for one in result.arms if one is not reference]
        found = {
            arm.name: pairing
            for arm in arms
            if arm.name != IDENTITY and arm.path != "runtime" and (pairing := _paired(arm, reference)) is not None
        }
        errors = holm([one.error.p for one in found.values()])
        losses = holm([mcnemar(one.lost, one.gained) for one in found.values()])
        view.memo[key] = dict(zip(found, zip(found.values(), errors, losses, strict=True), strict=True))
    compared: dict[str, tuple[_Pairing, float, float]] = view.memo[key]
    return compared


def _paired(arm: CodecArm, reference: CodecArm | None) -> _Pairing | None:
    """The two on the prompts that both ran; none over fewer than a verdict needs."""
    theirs = {row.sample: row for row in (reference.samples if reference is not None else ())}
    pairs = [(row, theirs[row.sample]) for row in arm.samples if row.sample in theirs]
    ratios = [(row.sample, _ratio(_error(row), _error(other))) for row, other in pairs]
    cells = [PairedRepeat(str(sample), sample, 0, ratio) for sample, ratio in ratios if ratio is not None]
    estimate = estimate_ratio(cells)
    if estimate is None or len(cells) < MIN_CODEC_PROMPTS.value:
        return None
    twice = _asked_twice(arm, *([reference] if reference is not None else []))
    counts = [(_right(row, twice), _right(other, twice)) for row, other in pairs]
    return _Pairing(estimate, sum(a > b for a, b in counts), sum(a < b for a, b in counts))


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    """Of two errors; none where one is unknown, nothing, or what no error can be."""
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return None
    ratio = ours / theirs
    return ratio if 0 < ratio < math.inf else None


def _right(row: CodecSample, twice: bool) -> int:
    """Answers that are right: to the first question, and to the second where both codecs were asked it."""
    return int(bool(row.correct)) + int(twice and row.second is not None and row.second.correct)


def _asked_twice(*arms: CodecArm) -> bool:
    return all(row.second is not None for arm in arms for row in arm.samples)
