import json
from pathlib import Path

import pytest

from harness.base.errors import CannotRunError
from harness.checks.junit_results import read_results

RESULTS = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest" tests="4" failures="1" errors="1" skipped="1">
<properties><property name="git_commit" value="{commit}"/><property name="command" value="pytest -q"/></properties>
<testcase classname="a" name="one" time="0.25"/>
<testcase classname="a" name="two"><failure message="assert 1 == 2">long
trace</failure></testcase>
<testcase classname="a" name="three"><skipped message="needs a Mac"/></testcase>
<testcase classname="a" name="four"><error>gone</error></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.xml"
    path.write_text(RESULTS.format(commit="a" * 40))
    return path


def test_cases_counts_and_what_was_told(results: Path) -> None:
    run = read_results([results], None, "else", "b" * 40)
    assert (run.suite, run.command, run.git_commit) == ("pytest", "pytest -q", "a" * 40)
    assert (run.tests, run.failures, run.errors, run.skipped) == (4, 1, 1, 1)
    assert [(case.name, case.outcome, case.reason) for case in run.cases] == [
        ("a::one", "passed", None),
        ("a::two", "failed", "assert 1 == 2"),
        ("a::three", "skipped", "needs a Mac"),
        ("a::four", "error", "gone"),
    ]
    assert run.cases[0].seconds == 0.25


def test_several_files_are_one_run_if_they_tell_the_same(results: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_text("<testsuite name='more' tests='1'><testcase name='five'/></testsuite>")
    run = read_results([results, other], None, None, None)
    assert (run.suite, run.tests, len(run.cases), len(run.results)) == ("pytest more", 5, 5, 2)
    other.write_text(RESULTS.format(commit="c" * 40))
    with pytest.raises(CannotRunError, match="git_commit"):
        read_results([results, other], None, None, None)


def test_coverage_is_lines_a_file(results: Path, tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": {"a.py": {"summary": {"num_statements": 9, "covered_lines": 7}}}}))
    run = read_results([results], path, None, None)
    assert run.coverage is not None
    assert [(file.file, file.lines, file.covered) for file in run.coverage] == [("a.py", 9, 7)]
    for text in ("[]", "{", '{"files": {"a.py": 1}}'):
        path.write_text(text)
        with pytest.raises(CannotRunError, match=r"coverage\.json"):
            read_results([results], path, None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no XML"),
        ("<a/>", "no JUnit results"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><testsuites/>", "declares"),
        ("<testsuite tests='many'/>", "no count"),
        ("<testsuite tests='-1'/>", "no count"),
        (
            "<testsuite tests='1'><properties><property name='git_commit' value='x'/></properties></testsuite>",
            "git_commit",
        ),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "results.xml"
    path.write_text(text)
    with pytest.raises(CannotRunError, match=told) as refused:
        read_results([path], None, None, None)
    assert "\n" not in str(refused.value)


BOMB = '<!DOCTYPE a [<!ENTITY b "bbb">]><testsuites>&b;</testsuites>'


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "latin-1"])
def test_an_encoding_hides_no_entity(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "x.xml").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{BOMB}é'.encode(encoding))
    with pytest.raises(CannotRunError, match=r"declares a document type|no XML"):
        read_results([tmp_path / "x.xml"], None, "pytest", None)


def test_what_a_file_says_of_its_encoding_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text('\ufeff<?xml version="1.0" encoding="utf-7"?><testsuites/>')
    assert read_results([tmp_path / "x.xml"], None, "pytest", None).tests == 0


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="none"):
        read_results([tmp_path / "none.xml"], None, None, None)
