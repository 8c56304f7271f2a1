"""Rows that a pause broke: they count for nothing, so that each must have had one, and have been measured again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, RowKey, row_key
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.records.constants import LEAST_PAUSE_S

if TYPE_CHECKING:
    from reports.records.measurement import Pause

LEAST_PAUSE = Threshold(
    "LEAST_PAUSE",
    LEAST_PAUSE_S,
    "seconds",
    meaning="Sleep of the machine that breaks a row; any stop of the process does.",
    source="the runner's own: less is the moment between two readings of clocks",
)


@evidence_rule(
    "PAUSED_ROWS",
    title="A row was set aside without a reason",
    catches="A row among those that a pause broke, in which the machine did not sleep and the process was not stopped, "
    "or that was not measured again in the same place.",
    why="Rows that count for nothing are where slow ones could be put.",
    fix="Let the runner set rows aside; it measures each again.",
    example=Example(
        bad="a slow row among the paused ones, 0 s asleep, stopped 0 times",
        good="30 s asleep, and the same sample and repeat measured again",
    ),
    thresholds=(LEAST_PAUSE,),
)
def paused_rows(view: ReportView) -> Iterator[Finding]:
    """A paused row had no pause, or stands for none that was measured again."""
    for arm in view.report.arms:
        again = {row_key(row): row.order for row in arm.measurements}
        for paused in arm.paused or ():
            row = paused.row
            where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
            for message, found, allowed in _faults(paused.pause, again, row_key(row), row.order):
                yield Finding(f"{where}: {message}", arm.name, row.sample, "paused", found, allowed)
    result = view.report.kv_quant
    measured: dict[RowKey, int | None] = (
        {(row.sample, 0, 0): None for row in result.oracle} if result is not None else {}
    )
    for sample in (result.paused or ()) if result is not None else ():
        number = sample.oracle.sample
        for message, found, allowed in _faults(sample.pause, measured, (number, 0, 0), None):
            yield Finding(f"sample {number}: {message}", None, number, "kv_quant.paused", found, allowed)


def _faults(
    pause: Pause, again: dict[RowKey, int | None], key: RowKey, order: int | None
) -> Iterable[tuple[str, str, str]]:
    """What is wrong with one that was set aside: the words, what was found and what may be."""
    if not pause.stops and pause.asleep_s < LEAST_PAUSE.value:
        yield (
            f"was set aside for a pause, with {pause.asleep_s:g} s asleep and no stop",
            f"{pause.asleep_s:g}",
            f"at least {LEAST_PAUSE.value:g}",
        )
    if key not in again or again[key] != order:
        yield "was set aside and not measured again in its place", "none", "a row of the same sample and repeat"
