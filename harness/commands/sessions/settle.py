"""From what was seen to a report that is judged, written and read back."""

from pathlib import Path

import typer

from harness.base.clock import utc_now
from harness.base.errors import OutputError
from harness.commands.run.output import RUNS, check_output
from harness.commands.run.printing import print_outcomes
from reports.report import Report


def place_for(name: str, out: Path | None) -> Path:
    """`out`, or a new file in k3-runs/ named so; checked before anything is run.

    Raises:
        OutputError: it cannot be written, or there is something already.
    """
    if out is None:
        out = _free_place(name)
    check_output(out)
    return out


def _free_place(name: str) -> Path:
    try:
        RUNS.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{RUNS}: cannot be made ({error.strerror}); use --out FILE") from error
    number = 1
    while (path := RUNS / f"{name}-{number}.json").exists():
        number += 1
    return path


def stamped(name: str) -> str:
    """A report id."""
    return f"{name}-{utc_now().strftime('%Y%m%dT%H%M%SZ')}"


def settle_conduct(report: Report, out: Path, *, json_output: bool, verbose: bool) -> None:
    """Judge, write once, read back, print, and exit with the code that the verdict has.

    Raises:
        OutputError: it cannot be written.
    """
    from gate.judging.batch import Judge
    from gate.judging.judge import conclude
    from gate.judging.judged_file import exit_code
    from reports.report import write_report

    try:
        write_report(conclude(report), out)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); choose another --out") from error
    files = [Judge().read(out).judged]
    print_outcomes(files, json_output=json_output, verbose=verbose)
    raise typer.Exit(exit_code(files))
