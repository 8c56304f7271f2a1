"""Codecs of the K/V cache over their samples: bits a value, error, recall, and whether one is worth a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.figures.rates import mean_of
from gate.rulebook.report_view import ReportView

if TYPE_CHECKING:
    from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult

AFFINE_4 = "affine4"

IDENTITY = "identity"


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


def worthwhile(view: ReportView, name: str) -> bool | None:
    """A codec is worth a native kernel only if, at no more bits than affine 4, it errs less and recalls no less.

    Recall is over both questions where both codecs were asked both.
    """
    arm, reference = codec_arm(view.report.kv_quant, name), codec_arm(view.report.kv_quant, AFFINE_4)
    if arm is None or reference is None:
        return None
    ours, theirs = codec_figures(arm), codec_figures(reference)
    recalls = (ours.answered, theirs.answered) if _asked_twice(arm, reference) else (ours.recall, theirs.recall)
    pairs = ((ours.bits, theirs.bits), (ours.error, theirs.error), recalls)
    if any(a is None or b is None for a, b in pairs):
        return None
    (bits, most), (error, worst), (recall, least) = ((a or 0.0, b or 0.0) for a, b in pairs)
    return bits <= most and error < worst and recall >= least


def _asked_twice(*arms: CodecArm) -> bool:
    return all(row.second is not None for arm in arms for row in arm.samples)
