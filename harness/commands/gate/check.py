"""`k3 gate check`: judge reports."""

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import CannotRunError
from harness.commands.gate.printing import Format, Output, Retractions, print_files
from reports.untrusted.one_line import one_line

Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 3 if a folder holds files that are no reports, or unfinished runs.")
]


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Reports, and folders of them.")],
    output: Output = Format.text,
    retractions: Retractions = None,
    strict: Strict = False,
) -> None:
    """Judge reports. Exit 0: nothing broken; 2: a rule is broken; 3: something that was named could not be judged."""
    from gate.judging.batch import folders_without_reports, judge_paths, not_judged
    from gate.judging.judged_file import exit_code
    from reports.retractions import RetractionsError

    try:
        files = judge_paths(paths, retractions or ())
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    print_files(files, output)
    code = exit_code(files)
    if code == 0:
        _refuse_unjudged([(file.path, file.reason or "no report") for file in not_judged(paths, files, strict=strict)])
        empty = folders_without_reports(paths, files)
        _refuse_unjudged([(str(path), "no report in this folder; name the one that holds them") for path in empty])
    raise typer.Exit(code)


def _refuse_unjudged(found: list[tuple[str, str]]) -> None:
    """What was named and not judged is no success.

    Raises:
        CannotRunError: there is some.
    """
    if found:
        path, reason = found[0]
        more = f" (and {len(found) - 1} more that were not judged)" if len(found) > 1 else ""
        raise CannotRunError(f"{one_line(path, 1000)}: {one_line(reason)}{more}")
