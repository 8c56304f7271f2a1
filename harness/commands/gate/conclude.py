"""`k3 gate conclude`: the claims of a finished run, made anew where more is known than when it was judged."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError, OutputError
from harness.commands.gate.printing import Format, Output, Retractions, print_files

if TYPE_CHECKING:
    from gate.judging.batch import Judge
    from gate.judging.judged_file import JudgedFile


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="REPORT...", help="Reports of finished runs.")],
    output: Output = Format.text,
    retractions: Retractions = None,
) -> None:
    """Derive the claims of finished runs anew from their rows.

    They are written into the reports: after `k3 parity` wrote its report beside them, say. Exit codes
    are those of `check`.
    """
    from gate.judging.batch import Judge
    from gate.judging.judged_file import exit_code
    from reports.retractions import RetractionsError

    try:
        judge = Judge([Path(os.sep)], retractions or ())  # what is rewritten is looked for up to the root
        files = [conclude_anew(path, judge) for path in paths]
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    print_files(files, output)
    raise typer.Exit(exit_code(files))


def conclude_anew(path: Path, judge: "Judge") -> "JudgedFile":
    """Derive every claim from the rows of the report at `path`, in the light of the parity reports in its folder, and
    write claims and gate block into it; the rows stay as they are.

    Raises:
        CannotRunError: it is no finished run of K3, was edited since the same rules judged it, breaks a rule, or was
            retracted; nothing is written.
        OutputError: it cannot be written; the old file is untouched.
    """
    from gate.judging.judge import conclude
    from gate.judging.rule_set import RULE_SET
    from gate.rules.files.refused import RETRACTED
    from reports.reading.evidence import Invalid
    from reports.report import Report, write_report

    read = judge.read(path)
    found, report = read.judged, read.evidence.outcome
    if not found.opened:
        raise CannotRunError(f"{path}: {found.violations[0].message}")
    if found.source != "k3" or found.schema_version != 2:
        raise CannotRunError(f"{path}: is no report of a run of K3; `k3 gate check` judges it as it is")
    if any(RETRACTED.code == violation.code for violation in found.violations):
        raise CannotRunError(f"{path}: was retracted; nothing in it is to be claimed")
    if isinstance(report, Invalid):
        raise CannotRunError(f"{path}: {report.message}")
    assert isinstance(report, Report)
    if report.gate is None:
        raise CannotRunError(f"{path}: is the unfinished run of an older K3; measure again")
    if report.gate.rule_set == RULE_SET and found.verdict == "invalid":
        codes = ", ".join(violation.code for violation in found.violations)
        raise CannotRunError(f"{path}: is not as it was when it was judged ({codes}); measure again")
    concluded = conclude(report, judge.parity_in(path.parent))
    assert concluded.gate is not None
    if concluded.gate.verdict == "invalid":
        codes = ", ".join(violation.code for violation in concluded.gate.violations)
        raise CannotRunError(f"{path}: its rows are broken ({codes}); measure again")
    try:
        write_report(concluded, path.resolve())  # a link stays one
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); it is as it was") from error
    return judge.read(path).judged
