import pytest

from reports.records.conduct.platform_tests import FileCoverage
from tests.gate.asking import ask, found
from tests.gate.cases.conduct import CLAIM, all_skipped, edit_case, edit_tests
from tests.gate.honest.conduct import measured_tests

RUN = measured_tests()
CODES = ("TESTS_SUMS", "TESTS_NONE", "TESTS_SKIPPED", "TESTS_OTHER_CODE")


def test_a_green_run_breaks_none() -> None:
    for code in CODES:
        assert not ask(code, RUN)
    assert not ask("TESTS_NOT_GREEN", RUN, CLAIM)


@pytest.mark.parametrize("field", ["tests", "failures", "errors", "skipped"])
def test_counts_are_those_of_the_cases(field: str) -> None:
    assert found("TESTS_SUMS", edit_tests(RUN, **{field: 5})) == ["5"]


def test_a_case_stands_once_and_no_file_has_more_lines_covered_than_lines() -> None:
    assert found("TESTS_SUMS", edit_case(RUN, 1, name="tests.test_it::test_0")) == ["2"]
    wrong = (FileCoverage(file="a.py", lines=3, covered=4),)
    assert found("TESTS_SUMS", edit_tests(RUN, coverage=wrong)) == ["4"]


@pytest.mark.parametrize("outcome", ["failed", "error"])
def test_a_case_that_failed_stands_in_the_way(outcome: str) -> None:
    assert found("TESTS_NOT_GREEN", edit_case(RUN, 4, outcome=outcome), CLAIM) == ["1"]


def test_nothing_run_is_no_green_run() -> None:
    nothing = edit_tests(RUN, cases=(), tests=0, skipped=0)
    assert ask("TESTS_NONE", nothing)
    assert ask("TESTS_NONE", all_skipped(RUN))


def test_a_skip_has_a_reason() -> None:
    assert ask("TESTS_SKIPPED", edit_case(RUN, 2, outcome="skipped"))
    assert not ask("TESTS_SKIPPED", edit_case(RUN, 2, outcome="skipped", reason="needs a GPU"))


def test_the_tested_commit_is_the_reported_one() -> None:
    assert found("TESTS_OTHER_CODE", edit_tests(RUN, git_commit=None)) == ["None"]
    assert found("TESTS_OTHER_CODE", edit_tests(RUN, git_commit="1" * 40)) == ["1" * 12]


def test_results_are_told_by_their_digests() -> None:
    (finding,) = ask("TESTS_OTHER_CODE", edit_tests(RUN, results=()))
    assert finding.field == "platform_tests.results"
