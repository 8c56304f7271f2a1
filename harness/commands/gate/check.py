"""`k3 gate check`: judge reports."""

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import CannotRunError
from harness.commands.gate.printing import Format, Output, Retractions, print_files
from reports.untrusted.one_line import one_line


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Reports, and folders of them.")],
    output: Output = Format.text,
    retractions: Retractions = None,
) -> None:
    """Judge reports. Exit 0: nothing broken; 2: a rule is broken; 3: a file could not be opened, a folder has none."""
    from gate.judging.batch import folders_without_reports, judge_paths
    from gate.judging.judged_file import exit_code
    from reports.retractions import RetractionsError

    try:
        files = judge_paths(paths, retractions or ())
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    print_files(files, output)
    code, empty = exit_code(files), folders_without_reports(paths, files)
    if code == 0 and empty:
        raise CannotRunError(f"{one_line(str(empty[0]), 1000)}: no report in this folder; name the one that holds them")
    raise typer.Exit(code)
