"""Edits of a codec run, for its rules."""

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
