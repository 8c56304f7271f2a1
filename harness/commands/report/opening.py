"""The report in a file that a command was given, judged; or why there is none."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile
    from reports.report import Report

FOLDER_HINT = "; of a folder, `k3 gate check` judges every report, and `k3 report table` and `html` show them together"
File = Annotated[Path, typer.Argument(metavar="FILE", help="A report.")]


def open_report(path: Path) -> "tuple[Report, JudgedFile]":
    """The report in a file and what the gate says of it.

    Raises:
        CannotRunError: there is no report in it, or what is retracted near it cannot be known.
    """
    from gate.judging.batch import Judge
    from reports.retractions import RetractionsError

    try:
        read = Judge().read(path)
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    report, judged = read.evidence.report, read.judged
    if report is None:
        folder = FOLDER_HINT if path.is_dir() else ""
        raise CannotRunError(f"{one_line(str(path), 1000)}: {why_no_report(judged)}{folder}")
    return report, judged


def why_no_report(file: "JudgedFile") -> str:
    """Why there is no report in a file."""
    return file.violations[0].message if file.violations else file.reason or "is not a report"
