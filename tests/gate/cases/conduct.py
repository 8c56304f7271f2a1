"""Cases of the rules about smokes of the session protocol and about test runs."""

from collections.abc import Callable
from typing import Any

from reports.records.conduct.platform_tests import TestCase
from reports.records.conduct.runtime_smoke import SmokeStep
from reports.report import Report
from tests.gate.honest.conduct import SUITE, measured_smoke, measured_tests
from tests.gate.honest.setup import digest
from tests.gate.rule_case import RuleCase, measured

STEPS = "runtime_smoke/steps"
CLAIM = f"tests_passed/{SUITE}"


def edit_step(report: Report, name: str, edit: Callable[[SmokeStep], SmokeStep]) -> Report:
    """A step edited."""
    smoke = report.runtime_smoke
    assert smoke is not None
    steps = tuple(edit(step) if step.step == name else step for step in smoke.steps)
    return report.replace(runtime_smoke=smoke.replace(steps=steps))


def without_step(report: Report, name: str) -> Report:
    """A step left out."""
    smoke = report.runtime_smoke
    assert smoke is not None
    return report.replace(runtime_smoke=smoke.replace(steps=tuple(step for step in smoke.steps if step.step != name)))


def edit_tests(report: Report, **changes: Any) -> Report:
    """Fields of a test run set."""
    tests = report.platform_tests
    assert tests is not None
    return report.replace(platform_tests=tests.replace(**changes))


def edit_case(report: Report, place: int, **changes: Any) -> Report:
    """Fields of a case set."""
    tests = report.platform_tests
    assert tests is not None
    cases: list[TestCase] = list(tests.cases)
    cases[place] = cases[place].replace(**changes)
    return edit_tests(report, cases=tuple(cases))


def all_skipped(report: Report) -> Report:
    """Every case skipped, for a reason."""
    tests = report.platform_tests
    assert tests is not None
    cases = tuple(case.replace(outcome="skipped", reason=case.reason or "needs a Mac") for case in tests.cases)
    return edit_tests(report, cases=cases, skipped=12)


CASES: dict[str, RuleCase] = {
    "SMOKE_STEPS": measured(
        measured_smoke, lambda report: without_step(report, "generate_truncated"), f"{STEPS}/generate_truncated"
    ),
    "SMOKE_STATUS": measured(
        measured_smoke,
        lambda report: edit_step(
            report,
            "generate_truncated",
            lambda step: step.replace(frames=(*step.frames[:-1], step.frames[-1].replace(tokens=4))),
        ),
        f"{STEPS}/generate_truncated/frames",
    ),
    "SMOKE_FAILED": measured(
        measured_smoke,
        lambda report: edit_step(report, "generate_sampled", lambda step: step.replace(observed="NOT_FOUND")),
        f"{STEPS}/generate_sampled/observed",
    ),
    "SMOKE_DETERMINISM": measured(
        measured_smoke,
        lambda report: edit_step(report, "generate_to_stop", lambda step: step.replace(history_digest=digest("other"))),
        f"{STEPS}/generate_to_stop/history_digest",
    ),
    "TESTS_SUMS": measured(measured_tests, lambda report: edit_tests(report, failures=1), "platform_tests/failures"),
    "TESTS_NOT_GREEN": measured(
        measured_tests,
        lambda report: edit_tests(edit_case(report, 3, outcome="failed"), failures=1),
        "platform_tests/cases/tests.test_it::test_3/outcome",
        "platform_tests/failures",
        claims=(CLAIM,),
    ),
    "TESTS_NONE": measured(
        measured_tests,
        all_skipped,
        "platform_tests/cases/*/outcome",
        "platform_tests/cases/*/reason",
        "platform_tests/skipped",
    ),
    "TESTS_SKIPPED": measured(
        measured_tests,
        lambda report: edit_case(report, 11, reason=None),
        "platform_tests/cases/tests.test_it::test_mac/reason",
    ),
    "TESTS_OTHER_CODE": measured(
        measured_tests, lambda report: edit_tests(report, git_commit="9" * 40), "platform_tests/git_commit"
    ),
}
