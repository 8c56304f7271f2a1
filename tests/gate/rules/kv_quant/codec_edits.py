"""Edits of a codec run, for its rules."""

from collections.abc import Callable
from typing import Any

from reports.report import Report
from tests.gate.cases.kv_quant import edit_codec


def samples(report: Report, name: str, **changes: object) -> Report:
    """Every sample of a codec edited."""
    return edit_codec(
        report, name, lambda arm: arm.replace(samples=tuple(row.replace(**changes) for row in arm.samples))
    )


def bits(report: Report, name: str, wanted: float) -> Report:
    """A codec's stored bytes set to give `wanted` bits a value."""
    return edit_codec(
        report,
        name,
        lambda arm: arm.replace(
            samples=tuple(row.replace(stored_bytes=round(wanted * row.values / 8)) for row in arm.samples)
        ),
    )


def first(report: Report, name: str, edit: Callable[[Any], Any]) -> Report:
    """The first sample of a codec edited."""
    return edit_codec(report, name, lambda arm: arm.replace(samples=(edit(arm.samples[0]), *arm.samples[1:])))


def oracle(report: Report, **changes: Any) -> Report:
    """The verifier's first row edited."""
    assert report.kv_quant is not None
    one, *rest = report.kv_quant.oracle
    return report.replace(kv_quant=report.kv_quant.replace(oracle=(one.replace(**changes), *rest)))


def without(report: Report, name: str) -> Report:
    """A codec removed."""
    assert report.kv_quant is not None
    arms = tuple(arm for arm in report.kv_quant.arms if arm.name != name)
    return report.replace(kv_quant=report.kv_quant.replace(arms=arms))
