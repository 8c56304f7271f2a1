"""Edits of a codec run that its doctorings are made of."""

import random
from collections.abc import Callable
from typing import Any

from reports.records.codec_rows import CodecArm, CodecSample
from reports.report import Report

GOOD = "hadamard_e8"
"""The honest reports' codec that is worthwhile."""
BAD = "lattice_d4"
"""Their codec that errs less than affine 4, at more bits."""
COMPARED = ("identity", "affine4")
"""What every other codec is held against."""

Change = Callable[[CodecSample], CodecSample]


def chosen(report: Report, name: str, rng: random.Random) -> str:
    """The codec of this name; where a real run has none, any but those that others are held against."""
    names = [arm.name for arm in report.kv_quant.arms] if report.kv_quant is not None else []
    others = [other for other in names if other not in COMPARED]
    return name if name in names or not others else rng.choice(others)


def with_codec(report: Report, name: str, edit: Callable[[CodecArm], CodecArm]) -> Report | None:
    result = report.kv_quant
    if result is None:
        return None
    arms = tuple(edit(arm) if arm.name == name else arm for arm in result.arms)
    return report.replace(kv_quant=result.replace(arms=arms))


def with_samples(report: Report, name: str, edit: Change) -> Report | None:
    return with_codec(report, name, lambda arm: arm.replace(samples=tuple(edit(row) for row in arm.samples)))


def scaled(row: CodecSample, k: float, v: float) -> CodecSample:
    """A row whose errors are multiplied, layer by layer."""
    layers = tuple(layer.replace(k=layer.k * k, v=layer.v * v) for layer in row.layers)
    return row.replace(
        layers=layers,
        relative_error_k=(row.relative_error_k or 0.0) * k,
        relative_error_v=(row.relative_error_v or 0.0) * v,
    )


def erring(row: CodecSample, k: float, v: float) -> CodecSample:
    """A row that errs by so much in every layer."""
    layers = tuple(layer.replace(k=k, v=v) for layer in row.layers)
    return row.replace(layers=layers, relative_error_k=k, relative_error_v=v)


def with_verdicts(report: Report | None, worthwhile: Callable[[str, bool], bool]) -> Report | None:
    """`report` with its printed verdicts edited."""
    result = report.kv_quant if report is not None else None
    if report is None or result is None:
        return None
    verdicts = tuple(one.replace(worthwhile=worthwhile(one.arm, one.worthwhile)) for one in result.verdicts)
    return report.replace(kv_quant=result.replace(verdicts=verdicts))


def praised(report: Report | None, name: str) -> Report | None:
    return with_verdicts(report, lambda arm, stated: stated or arm == name)


def set_result(report: Report, **changes: Any) -> Report | None:
    return report.replace(kv_quant=report.kv_quant.replace(**changes)) if report.kv_quant is not None else None
