"""The cases of a test run: that they add up, that they passed, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.conduct.test_results import outcomes
from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import TESTS, Example, Finding

if TYPE_CHECKING:
    from reports.records.claims import Claim


@evidence_rule(
    "TESTS_SUMS",
    title="Counts of a test run that are not those of its cases",
    catches="Stated tests, failures, errors or skips other than the cases say, a case that stands twice, or more lines "
    "covered in a file than it has.",
    why="A summary is what people read; a failure is hidden by editing one number of it.",
    fix="Let `k3 tests` count; do not edit the report or the results.",
    blocks=TESTS,
    example=Example(bad="0 failures stated, one case failed", good="1 failure stated, one case failed"),
)
def tests_sums(view: ReportView) -> Iterator[Finding]:
    """Counts and cases disagree."""
    tests = view.report.platform_tests
    if tests is None or (view.imported and not tests.cases):
        return
    counts = outcomes(tests) if tests.cases else dict.fromkeys(("failed", "error", "skipped"), 0)
    stated = {"tests": tests.tests, "failures": tests.failures, "errors": tests.errors, "skipped": tests.skipped}
    derived = (len(tests.cases), counts["failed"], counts["error"], counts["skipped"])
    for (name, said), counted in zip(stated.items(), derived, strict=True):
        if said != counted:
            message = f"platform_tests.{name}: {said} is stated, the cases give {counted}"
            yield Finding(message, field=f"platform_tests.{name}", found=str(said), allowed=str(counted))
    for name, count in Counter(case.name for case in tests.cases).items():
        if count > 1:
            message = f"platform_tests.cases: {name} stands {count} times"
            yield Finding(message, field="platform_tests.cases", found=str(count), allowed="1")
    for file in tests.coverage or ():
        if file.covered > file.lines:
            message = f"platform_tests.coverage: {file.covered} of {file.lines} lines of {file.file}"
            found, allowed = str(file.covered), f"at most {file.lines}"
            yield Finding(message, field="platform_tests.coverage", found=found, allowed=allowed)


@claim_rule(
    "TESTS_NOT_GREEN",
    title="Tests that failed",
    catches="A case that failed or could not be run.",
    why="A claim about a platform is that its tests pass there; one that fails is the news.",
    fix="Mend what failed, and run the tests again.",
    blocks=TESTS,
    example=Example(bad="one case failed", good="every case passed"),
)
def tests_not_green(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Something failed."""
    tests = view.report.platform_tests
    if tests is None:
        return
    counts = outcomes(tests)
    failed = counts["failed"] + counts["error"]
    if failed:
        first = next((case.name for case in tests.cases if case.outcome in ("failed", "error")), "")
        message = f"platform_tests: {failed} cases failed (first: {first[:120]})"
        yield Finding(message, field="platform_tests.cases.outcome", found=str(failed), allowed="0")


@evidence_rule(
    "TESTS_NONE",
    title="A test run in which nothing was run",
    catches="A report of a test run without a case, or whose every case was skipped.",
    why="No failure in no test is the greenest result there is, and the emptiest.",
    fix="Run the tests; if the selection leaves none, widen it.",
    severity="withheld",
    blocks=TESTS,
    example=Example(bad="12 cases, all skipped", good="12 cases, 11 passed, one skipped"),
)
def tests_none(view: ReportView) -> Iterator[Finding]:
    """Nothing was run."""
    tests = view.report.platform_tests
    if tests is None:
        return
    counts = outcomes(tests)
    if not any(count for outcome, count in counts.items() if outcome != "skipped"):
        message = f"platform_tests: none of {tests.tests} cases was run"
        yield Finding(message, field="platform_tests.cases", found="0", allowed="at least 1")


@evidence_rule(
    "TESTS_SKIPPED",
    title="Tests left out without a word",
    catches="A skipped case that gives no reason.",
    why="Whoever skips the test that fails has a green run; the reason is what makes a skip readable.",
    fix="Give every skip its reason.",
    severity="withheld",
    blocks=TESTS,
    example=Example(bad="a case skipped, no reason", good="a case skipped: needs a Mac"),
)
def tests_skipped(view: ReportView) -> Iterator[Finding]:
    """A skip says nothing."""
    tests = view.report.platform_tests
    if tests is None:
        return
    silent = [case.name[:120] for case in tests.cases if case.outcome == "skipped" and not case.reason]
    if silent:
        message = f"platform_tests.cases: {len(silent)} cases were skipped without a reason (first: {silent[0]})"
        yield Finding(message, field="platform_tests.cases.reason", found="none", allowed="a reason")
