"""`k3 gate check`: judge reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError
from harness.commands.gate.printing import Format, Output, Retractions, print_files
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile

Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 3 if a folder holds files that are no reports, or unfinished runs.")
]

Attested = Annotated[
    Path | None,
    typer.Option(
        "--require-attested", metavar="KEYS", help="Bar reports that none of these public keys has signed (k3 attest)."
    ),
]


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Reports, and folders of them.")],
    output: Output = Format.text,
    retractions: Retractions = None,
    strict: Strict = False,
    require_attested: Attested = None,
) -> None:
    """Judge reports. Exit 0: nothing broken; 2: a rule is broken; 3: something that was named could not be judged."""
    from gate.judging.batch import folders_without_reports, judge_paths, not_judged
    from gate.judging.judged_file import exit_code
    from reports.retractions import RetractionsError

    try:
        if require_attested is None:
            files = judge_paths(paths, retractions or ())
        else:
            files = _attested(paths, retractions or (), require_attested)
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    print_files(files, output)
    code = exit_code(files)
    if code == 0:
        listed = output is Format.text  # there the reason stands beside the file
        _refuse_unjudged([(file.path, _lacks(file, listed)) for file in not_judged(paths, files, strict=strict)])
        empty = folders_without_reports(paths, files)
        _refuse_unjudged([(str(path), "no report in this folder; name the one that holds them") for path in empty])
    raise typer.Exit(code)


def _attested(paths: Sequence[Path], retractions: Sequence[Path], keys: Path) -> "list[JudgedFile]":
    """The judged files; nothing may be said of a report without a trusted signature."""
    from gate.judging.batch import iterate_paths
    from harness.attestation.keys import read_trusted_keys
    from harness.commands.attest.attested import barred_unless_attested

    trusted = read_trusted_keys(keys)
    return [barred_unless_attested(read, trusted) for read in iterate_paths(paths, retractions)]


def _lacks(file: "JudgedFile", listed: bool) -> str:
    """Why a file was not judged, once: not where the list of files `listed` it."""
    return "was not judged, as the list says; name reports alone" if listed else file.reason or "no report"


def _refuse_unjudged(found: list[tuple[str, str]]) -> None:
    """What was named and not judged is no success.

    Raises:
        CannotRunError: there is some.
    """
    if found:
        path, reason = found[0]
        more = f" (and {len(found) - 1} more that were not judged)" if len(found) > 1 else ""
        raise CannotRunError(f"{one_line(path, 1000)}: {one_line(reason)}{more}")
