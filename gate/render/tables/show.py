"""A report for people: where it comes from, its arms in a table, and what may be said of it."""

import os
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TextIO

from gate.judging.judged_file import JudgedFile
from gate.render.headline import hint_line
from gate.render.report_header import header_of
from gate.render.tables import codec_cells, parity_cells
from gate.render.tables.arm_summary import summarise
from gate.render.tables.cells import COLUMNS, WORDS, cells
from gate.render.tables.codec_table import summarise_codecs
from gate.render.tables.parity_counts import summarise_parity
from gate.render.text import file_lines, write_lines
from reports.records.codec_rows import KvQuantResult
from reports.report import Report
from reports.untrusted.one_line import one_line

PLAIN_WIDTH = 200
"""Columns where the output is no terminal and has no width of its own."""


def show(report: Report, judged: JudgedFile, stream: TextIO) -> None:
    """Print the report to `stream`; text from it reaches the terminal without control codes or markup."""
    rows = [(label, text) for label, text in header_of(report).items()]
    write_table(("", ""), rows, stream, words=2)
    if report.arms:
        write_table(COLUMNS, [cells(arm) for arm in summarise(report, judged)], stream, words=WORDS)
    if report.parity is not None:
        write_table(
            parity_cells.COLUMNS, [parity_cells.row(summarise_parity(report.parity))], stream, words=parity_cells.WORDS
        )
    if report.kv_quant is not None:
        write_codecs(report.kv_quant, judged, stream)
    write_lines(file_lines(judged), stream)
    hint = hint_line(judged.claims)
    if hint is not None:
        write_lines(iter([((hint, "dim"),)]), stream)


def write_codecs(result: KvQuantResult, judged: JudgedFile, stream: TextIO) -> None:
    """Print the table of a codec run, what could not be run, and what the verdicts come to."""
    rows = [codec_cells.row(summary) for summary in summarise_codecs(result)]
    write_table(codec_cells.COLUMNS, rows, stream, words=codec_cells.WORDS)
    for refused in result.refused:
        stream.write(f"not run: {one_line(refused.name)}: {one_line(refused.reason)}\n")
    stream.write(f"{codec_cells.verdict(judged)}\n\n")


def write_table(columns: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO, *, words: int) -> None:
    """Print a table whose first `words` columns are left-aligned and fold, and whose others are figures."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = stream.isatty()
    table = Table(box=None, show_header=any(columns), pad_edge=False, header_style="bold" if terminal else "")
    for number, column in enumerate(columns):
        figures = number >= words
        table.add_column(
            column, justify="right" if figures else "left", no_wrap=figures and len(column) < 12, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    drawn = StringIO()
    console = Console(
        file=stream if terminal else drawn,
        width=None if terminal else PLAIN_WIDTH,
        force_terminal=terminal,
        no_color=bool(os.environ.get("NO_COLOR")),
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(table)
    console.print()
    stream.writelines(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())


def differences(first: dict[str, str], second: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Label and both texts, of every label whose texts differ; a missing one is empty."""
    for label in dict.fromkeys((*first, *second)):
        ours, theirs = first.get(label, ""), second.get(label, "")
        if ours != theirs:
            yield label, ours, theirs


def flat(report: Report, judged: JudgedFile) -> dict[str, str]:
    """Everything `show` prints of a report, a label and a text each, for comparing two of them."""
    lines = header_of(report) | {"verdict": judged.state}
    for arm in summarise(report, judged):
        row = zip(COLUMNS[1:], cells(arm)[1:], strict=True)
        lines |= {f"{one_line(arm.name)}: {column}": cell for column, cell in row if cell}
    if report.parity is not None:
        counts = zip(parity_cells.COLUMNS, parity_cells.row(summarise_parity(report.parity)), strict=True)
        lines |= {f"parity: {column}": cell for column, cell in counts}
    shown = {admitted.claim.name for admitted in judged.headlines}
    for claim in judged.claims:
        state = "admitted" if claim.name in shown else f"WITHHELD ({', '.join(claim.withheld_by) or 'not claimed'})"
        lines[f"claim {one_line(claim.name)}"] = one_line(state)
    return lines
