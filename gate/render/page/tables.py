"""Tables of a page, as its templates draw them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gate.figures.recall_frontier import frontier
from gate.judging.judged_file import JudgedFile
from gate.render.page import frontier_rows
from gate.render.report_header import header_of
from gate.render.tables import cells, codec_cells, conduct, parity_cells, replayed
from gate.render.tables.arm_summary import summarise
from gate.render.tables.codec_table import summarise_codecs
from gate.render.tables.parity_counts import summarise_parity
from reports.report import Report


@dataclass(frozen=True)
class Table:
    """A table that scrolls by itself; columns from number `words` on hold figures. Without headings, rows have them."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int

    @property
    def headed(self) -> bool:
        """Its columns have headings."""
        return any(self.columns)


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], words: int) -> Table:
    """A table of these rows."""
    return Table(caption, tuple(columns), tuple(map(tuple, rows)), words)


def measured(report: Report, judged: JudgedFile) -> tuple[Table, ...]:
    """What was measured: arms, parity, recall against bytes, codecs, steps of a smoke, cases of tests."""
    found = []
    if report.arms:
        arms = summarise(report, judged)
        rows = [cells.cells(arm) for arm in arms]
        found.append(table("Medians over the rows of each arm", cells.COLUMNS, rows, cells.WORDS))
        if lines := [line.split(": ", 1) for arm in arms for line in cells.round_trip_lines(arm)]:
            found.append(table("Arms that a server ran", ("", ""), lines, 2))
    if report.parity is not None:
        rows = [parity_cells.row(summarise_parity(report.parity))]
        found.append(table("Two runtimes of the drafter", parity_cells.COLUMNS, rows, parity_cells.WORDS))
    if points := frontier(report):
        rows = list(map(frontier_rows.row, points))
        caption = "Recall and resident bytes of each arm that bounds its cache"
        found.append(table(caption, frontier_rows.COLUMNS, rows, frontier_rows.WORDS))
    if report.kv_quant is not None:
        rows = [codec_cells.row(summary) for summary in summarise_codecs(report.kv_quant)]
        found.append(table("Means over the samples of each codec", codec_cells.COLUMNS, rows, codec_cells.WORDS))
    if report.runtime_smoke is not None:
        rows = conduct.smoke_rows(report.runtime_smoke)
        found.append(table("Steps of the session smoke", conduct.SMOKE_COLUMNS, rows, conduct.SMOKE_WORDS))
    if report.replay is not None:
        caption = "Rows of each arm that were run again"
        found.append(table(caption, replayed.COLUMNS, replayed.rows(report), replayed.WORDS))
    if report.platform_tests is not None:
        rows = [conduct.tests_row(report.platform_tests)]
        found.append(table("Cases of the test run", conduct.TESTS_COLUMNS, rows, conduct.TESTS_WORDS))
    return tuple(found)


def origin(report: Report) -> Table:
    """Where the report comes from."""
    return table("Provenance", ("", ""), header_of(report).items(), 2)
