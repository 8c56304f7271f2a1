"""`k3 report table`: the arms of many reports in one table, and ratios pooled over them, for Markdown and CSV."""

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gate.claims.run_ratios import run_ratios
from gate.figures.pooling.over_machines import RunRatio, pool_ratios
from gate.judging.batch import iterate_paths
from gate.judging.judged_file import JudgedFile
from gate.render.headline import three_digits
from gate.render.markdown import markdown_text
from gate.render.tables.arm_summary import ArmSummary, summarise
from gate.render.tables.cells import WITHHELD
from gate.render.tables.pooled_table import POOLED_COLUMNS, pooled_rows
from harness.base.errors import CannotRunError
from harness.commands.report.opening import why_no_report
from reports.report import Report
from reports.retractions import RetractionsError
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line

COLUMNS = (
    "file",
    "verdict",
    "arm",
    "role",
    "engine",
    "restoration",
    "rows",
    "samples",
    "recalled",
    "prefill_s",
    "decode_tok_s",
    "decode_ratio",
    "ratio_low",
    "ratio_high",
    "kv_bytes",
    "accepted_of_drafted",
    "committed_per_block",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would run."""


class TableFormat(StrEnum):
    """How a table of arms is printed."""

    markdown = "markdown"
    csv = "csv"


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Reports, and folders of them.")],
    output: Annotated[TableFormat, typer.Option("--format", help="Markdown or CSV.")] = TableFormat.markdown,
    pooled_only: Annotated[
        bool, typer.Option("--pooled", help="Print the pooled ratios alone, those of single runs, too.")
    ] = False,
) -> None:
    """Print the arms of many reports in one table. Ratios that the gate does not admit are WITHHELD.

    In Markdown, ratios of one setting from several reports follow, pooled on each machine and over machines.
    """
    arms, pooled, missed = read_tables(paths)
    tables = [arms, pooled] if any(row["runs"] > 1 for row in pooled.rows) else [arms]
    if missed and len(missed) == len(arms.rows):  # a row each that says nothing: the error below says it
        raise CannotRunError(without_report(missed))
    if output is TableFormat.csv:
        sys.stdout.write((pooled if pooled_only else arms).csv())
    else:
        sys.stdout.write("\n".join(table.markdown() for table in ([pooled] if pooled_only else tables)))
    if problem := without_report(missed):
        raise CannotRunError(problem)
    if not arms.rows:
        raise CannotRunError(f"{one_line(str(paths[0]), 1000)}: no report in this folder; name the one that holds them")


@dataclass(frozen=True)
class Table:
    """Rows by their columns. What is absent is an empty cell."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]

    def csv(self) -> str:
        """Figures in full; text that a spreadsheet would take for a formula is quoted with an apostrophe."""
        text = io.StringIO()
        table = csv.DictWriter(text, self.columns, lineterminator="\n")
        table.writeheader()
        table.writerows({name: _no_formula(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()

    def markdown(self) -> str:
        """Figures to three digits."""
        lines = ["| " + " | ".join(self.columns) + " |", "| " + " | ".join("---" for _ in self.columns) + " |"]
        for row in self.rows:
            lines.append("| " + " | ".join(_cell(row.get(name)) for name in self.columns) + " |")
        return "\n".join(lines) + "\n"


def read_tables(paths: Sequence[Path]) -> tuple[Table, Table, tuple[JudgedFile, ...]]:
    """The arms of every report in `paths`, their ratios pooled, and the files that should hold a report and do not.

    A row is an arm; a report without arms has a row of its own. A file in a folder that is in no way a report is not
    missed; one that was named is.

    Raises:
        CannotRunError: what is retracted near a report cannot be known.
    """
    rows: list[dict[str, Any]] = []
    ratios: list[RunRatio] = []
    missed = []
    try:
        for read in iterate_paths(paths):
            report = read.evidence.report
            arms = summarise(report, read.judged) if report is not None else ()
            start = {"file": one_line(read.judged.path, 1000), "verdict": read.judged.state}
            rows += [start | _row(arm) for arm in arms] or [start]
            if isinstance(read.evidence.outcome, Report):
                admitted = {headline.claim.name for headline in read.judged.headlines}
                ratios += run_ratios(read.evidence.outcome, admitted)
            named = read.evidence.path in paths
            if report is None and (named or read.judged.verdict != "not_evidence" or not read.judged.opened):
                missed.append(read.judged)
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    pooled = Table(POOLED_COLUMNS, tuple(pooled_rows(pool_ratios(ratios))))
    return Table(COLUMNS, tuple(rows)), pooled, tuple(missed)


def without_report(missed: Sequence[JudgedFile]) -> str:
    """One line about the files without a report; empty if there are none."""
    if not missed:
        return ""
    more = f" (and {number_of(len(missed) - 1, 'more file')} without a report)" if len(missed) > 1 else ""
    return f"{one_line(missed[0].path, 1000)}: {why_no_report(missed[0])}{more}"


def _row(arm: ArmSummary) -> dict[str, Any]:
    ratio, accepted = arm.ratio, arm.acceptance
    interval = ratio.interval if ratio is not None else None
    return {
        "arm": one_line(arm.name),
        "role": arm.role,
        "engine": one_line(arm.engine),
        "restoration": arm.restoration,
        "rows": arm.rows,
        "samples": arm.samples,
        "recalled": arm.recalled.rate if arm.recalled is not None else None,
        "prefill_s": arm.prefill_s,
        "decode_tok_s": arm.decode_tok_s,
        "decode_ratio": ratio.value if ratio is not None else (WITHHELD if arm.ratio_withheld else None),
        "ratio_low": interval.low if interval is not None else None,
        "ratio_high": interval.high if interval is not None else None,
        "kv_bytes": arm.kv_bytes,
        "accepted_of_drafted": accepted.rate if accepted is not None else None,
        "committed_per_block": accepted.committed_per_block if accepted is not None else None,
    }


def _no_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _cell(value: object) -> str:
    if isinstance(value, bool | int | float):
        return three_digits(float(value))
    return markdown_text(value) if isinstance(value, str) else ""
