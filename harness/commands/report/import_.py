"""`k3 report import`: another tool's file as a report of schema 2."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import CannotRunError
from harness.commands.report.opening import File
from harness.commands.report.writing import write_made_from
from reports.printing.say import say
from reports.untrusted.one_line import one_line


def command(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write the report; default: stdout.")
    ] = None,
) -> None:
    """Turn another tool's file into a report.

    It is of schema 2, and marked as imported and unverified.
    """
    from gate.judging.judge import judge
    from reports.reading.reader import import_report
    from reports.report import ReportError, report_bytes

    try:
        report = import_report(file)
    except ReportError as error:
        raise CannotRunError(one_line(str(error), 1000)) from error
    data, judgement = report_bytes(report), judge(report)
    if judgement.verdict != "admissible":
        codes = ", ".join(violation.code for violation in judgement.violations)
        say(f"k3: the gate will say {judgement.verdict} of it: {codes}", sys.stderr)
    if out is None:
        sys.stdout.write(data.decode())
    else:
        write_made_from(file, data, out)
        print(out)
