"""Which code was tested: the one that the report says it is about."""

from __future__ import annotations

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import TESTS, Example, Finding


@evidence_rule(
    "TESTS_OTHER_CODE",
    title="Results of a test run of other code",
    catches="Results that do not tell the commit that was tested, or tell another than the report's source; or without "
    "a digest of their files.",
    why="Yesterday's green results fit today's commit in every way but one.",
    fix="Run the tests at this commit, and `k3 tests` in the same checkout.",
    severity="withheld",
    blocks=TESTS,
    example=Example(bad="tested at 3f2a, reported at 9c1d", good="tested and reported at 9c1d"),
)
def tests_other_code(view: ReportView) -> Iterator[Finding]:
    """The commit is unknown, or another one."""
    tests, provenance = view.report.platform_tests, view.report.provenance
    if tests is None or view.imported:
        return
    source = provenance.source if provenance is not None else None
    reported = source.git_commit if source is not None else None
    if tests.git_commit is None or tests.git_commit != reported:
        found, allowed = (str(commit)[:12] for commit in (tests.git_commit, reported))
        message = f"platform_tests.git_commit: the results are of {found}, the report is of {allowed}"
        yield Finding(message, field="platform_tests.git_commit", found=found, allowed=allowed)
    if not tests.results:
        message = "platform_tests.results: the digests of the result files are not recorded"
        yield Finding(message, field="platform_tests.results", found=str(len(tests.results)), allowed="one a file")
