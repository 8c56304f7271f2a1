"""What a drawn row came to, whatever kind of run it is of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.base.progress import Progress
from harness.plans.plan import Plan
from reports.records.conduct.replay import AnyRow
from reports.records.measurement import AuditedStream
from reports.replays.draw import Drawn
from reports.report import Report


@dataclass(frozen=True)
class Outcome:
    """The row as it came out here, or why it did not; `audit` is of the original's stream."""

    row: AnyRow | None = None
    audit: AuditedStream | None = None
    not_run: str | None = None


@dataclass(frozen=True)
class Again:
    """A run made again as far as it was drawn: its report without rows, and the outcome of every drawn row."""

    skeleton: Report
    outcomes: Mapping[Drawn, Outcome]


DrawnRows = Mapping[Drawn, AnyRow]
"""The drawn rows as the original has them."""

Runner = Callable[[Plan, DrawnRows, Progress], Again]


def not_run(error: Exception | str) -> Outcome:
    """A row that could not run, and why, in one line."""
    return Outcome(not_run=" ".join(str(error).split())[:400] or "no reason was told")
