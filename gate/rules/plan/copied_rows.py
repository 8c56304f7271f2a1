"""Rows that were copied: two runs of a clock with nanoseconds never take exactly the same time."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from reports.records.measurement import Arm, Measurement


@evidence_rule(
    "COPIED_ROWS",
    title="Rows that were copied from another",
    catches="Two rows, of one arm or of two, with exactly the same prefill and decode seconds.",
    why="An arm copied over another is a self-comparison, and a row copied into new repeats is a sample of one.",
    fix="Measure every row.",
    example=Example(bad="two rows of 1.204873 s and 3.918236 s alike", good="rows whose times differ, as clocks do"),
)
def copied_rows(view: ReportView) -> Iterator[Finding]:
    """Two rows share their times to the last digit."""
    seen: dict[tuple[float, float], tuple[Arm, Measurement]] = {}
    for arm in view.report.arms:
        for row in arm.measurements:
            if not row.prefill_s or not row.decode_s:
                continue
            first, other = seen.setdefault((row.prefill_s, row.decode_s), (arm, row))
            if other is not row:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: prefill {row.prefill_s} s and decode "
                    f"{row.decode_s} s are exactly those of {first.name}, sample {other.sample}, repeat {other.repeat}",
                    arm=arm.name,
                    sample=row.sample,
                    field="decode_s",
                    found=str(row.decode_s),
                    allowed="a time of its own",
                )
