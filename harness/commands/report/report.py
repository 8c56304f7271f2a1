"""`k3 report`: show, compare, convert and import reports. Nothing here judges anew: it prints what the gate says."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError, OutputError
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile
    from reports.report import Report

app = typer.Typer(rich_markup_mode=None)
File = Annotated[Path, typer.Argument(metavar="FILE", help="A report.")]


class TableFormat(StrEnum):
    """How a table of arms is printed."""

    markdown = "markdown"
    csv = "csv"


@app.command("show")
def show_report(file: File) -> None:
    """Print where a report comes from, its arms, and its claims as the gate judges them."""
    from gate.render.tables.show import show

    report, judged = open_report(file)
    _escape_what_stdout_cannot_encode()
    show(report, judged, sys.stdout)


@app.command("diff")
def diff(first: File, second: File) -> None:
    """Print what differs between two reports: setting, figures, and what may be said."""
    from gate.render.tables.show import differences, flat, write_table

    rows = list(differences(flat(*open_report(first)), flat(*open_report(second))))
    _escape_what_stdout_cannot_encode()
    if not rows:
        print("no difference in setting, figures or claims")
        return
    names = (one_line(str(first)), one_line(str(second)))
    write_table(("", *names), rows, sys.stdout, words=3)


@app.command("html")
def html(
    file: File, out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the page.")]
) -> None:
    """Write a report as one self-contained HTML page."""
    from gate.render.page.html import page

    report, judged = open_report(file)
    _write(page(report, judged).encode("utf-8", "backslashreplace"), out, file)
    print(out)


@app.command("table")
def table(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Reports, and folders of them.")],
    output: Annotated[TableFormat, typer.Option("--format", help="Markdown or CSV.")] = TableFormat.markdown,
) -> None:
    """Print the arms of many reports in one table. Ratios that the gate does not admit are WITHHELD."""
    from harness.commands.report.table import arms_table, without_report

    arms, missed = arms_table(paths)
    _escape_what_stdout_cannot_encode()
    sys.stdout.write(arms.csv() if output is TableFormat.csv else arms.markdown())
    if problem := without_report(missed):
        raise CannotRunError(problem)
    if arms.frame.empty:
        raise CannotRunError(f"{one_line(str(paths[0]), 1000)}: no report in this folder; name the one that holds them")


@app.command("import")
def import_file(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write the report; default: stdout.")
    ] = None,
) -> None:
    """Turn another tool's file into a schema-2 report, marked as imported and unverified."""
    from gate.judging.judge import judge
    from reports.reading import import_report
    from reports.report import ReportError, report_bytes

    try:
        report = import_report(file)
    except ReportError as error:
        raise CannotRunError(one_line(str(error), 1000)) from error
    data, judgement = report_bytes(report), judge(report)
    if judgement.verdict != "admissible":
        codes = ", ".join(violation.code for violation in judgement.violations)
        print(f"k3: the gate will say {judgement.verdict} of it: {codes}", file=sys.stderr)
    if out is None:
        _escape_what_stdout_cannot_encode()
        sys.stdout.write(data.decode())
    else:
        _write(data, out, file)
        print(out)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of a report."""
    from reports.schema import schema_bytes

    sys.stdout.write(schema_bytes().decode())


def open_report(path: Path) -> "tuple[Report, JudgedFile]":
    """The report in a file and what the gate says of it.

    Raises:
        CannotRunError: there is no report in it, or what is retracted near it cannot be known.
    """
    from gate.judging.batch import Judge
    from gate.judging.judge_evidence import report_of
    from harness.commands.report.table import why_no_report
    from reports.retractions import RetractionsError

    try:
        read = Judge().read(path)
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    report, judged = report_of(read.evidence), read.judged
    if report is None:
        why = why_no_report(judged)
        raise CannotRunError(f"{one_line(str(path), 1000)}: {why}")
    return report, judged


def _write(data: bytes, out: Path, source: Path) -> None:
    """Write a file made from `source`, whole or not at all.

    Raises:
        OutputError: the folder is not writable, the disk is full, or `out` is a folder or the source itself.
    """
    from reports.report import write_atomically

    try:
        if out.is_dir():
            raise IsADirectoryError(0, "is a folder")
        if out.exists() and out.samefile(source):
            raise FileExistsError(0, "is the file it would be made from")
        write_atomically(data, out)
    except OSError as error:
        shown = one_line(str(out), 1000)
        raise OutputError(f"{shown}: cannot be written ({error.strerror}); choose another --out") from error


def _escape_what_stdout_cannot_encode() -> None:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
