"""A replay in a table: the drawn rows of every arm by outcome, and its speed there and here."""

from gate.figures.replay.by_arm import ArmReplayed, by_arm
from gate.rulebook.report_view import ReportView
from reports.report import Report
from reports.untrusted.one_line import one_line

COLUMNS = ("arm", "rows", "drawn", "same", "by a tie", "other", "not run", "x oracle there", "x oracle here")
WORDS = 1


def rows(report: Report) -> list[tuple[str, ...]]:
    """A row an arm, under `COLUMNS`; nothing where nothing was drawn."""
    return [_row(one) for one in by_arm(ReportView(report)) if one.drawn]


def _row(one: ArmReplayed) -> tuple[str, ...]:
    counts = (one.rows, one.drawn, one.same, one.near_ties, one.other, one.not_run)
    ratios = (f"{ratio:.2f}" if ratio is not None else "" for ratio in (one.ratio_original, one.ratio_here))
    return (one_line(one.arm, 60), *map(str, counts), *ratios)
