"""`k3 tests`: a report of a test run, made of its JUnit XML and, where there is one, its coverage JSON."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.base.clock import utc_now
from harness.base.errors import UsageError
from harness.commands.run.options import Json, Out, Verbose
from harness.commands.sessions.settle import place_for, settle_conduct, stamped
from reports.report import Report

_COMMIT = re.compile(r"[0-9a-f]{40}")


def command(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="JUnit XML files of one run.")],
    coverage: Annotated[Path | None, typer.Option(help="What `coverage json` wrote of that run.")] = None,
    ran: Annotated[str | None, typer.Option("--command", help="What ran the tests, where they do not tell.")] = None,
    commit: Annotated[str | None, typer.Option(help="The commit that was tested, where they do not tell.")] = None,
    out: Out = None,
    json_output: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make a report of test results (JUnit XML).

    Its kind is platform_tests.
    """
    from harness.base.provenance import anonymous_argv, read_host, read_packages, read_source
    from harness.checks.junit_results import read_results
    from reports.records.provenance import Provenance

    if commit is not None and not _COMMIT.fullmatch(commit):
        raise UsageError(f"--commit {commit!r}: give all 40 hex digits, as `git rev-parse HEAD` prints them")
    place = place_for("tests", out)
    report = Report(
        kind="platform_tests",
        report_id=stamped("tests"),
        created_at=utc_now(),
        provenance=Provenance(
            source=read_source(), argv=anonymous_argv(sys.argv), host=read_host(), packages=read_packages()
        ),
        platform_tests=read_results(results, coverage, ran, commit),
    )
    settle_conduct(report, place, json_output=json_output, verbose=verbose)
