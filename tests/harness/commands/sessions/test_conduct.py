"""`k3 smoke` and `k3 tests`, from the command line to a report that is judged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import run
from reports.report import load_report

ROOT = Path(__file__).resolve().parents[4]
ONLY_DIRTY = {"DIRTY_TREE"}
"""The one thing that a run in a tree under work may be held back for."""


def codes(path: Path) -> set[str]:
    gate = load_report(path).gate
    assert gate is not None
    return {violation.code for violation in gate.violations}


@pytest.mark.parametrize("options", [[], ["--engine", "fused", "--drafter", "ngram"]])
def test_smoke_writes_a_report_of_ten_steps(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "smoke.json"
    code = run(["smoke", *options, "--out", str(out)])
    report = load_report(out)
    assert codes(out) <= ONLY_DIRTY
    assert code == (2 if codes(out) else 0)
    assert report.runtime_smoke is not None
    assert len(report.runtime_smoke.steps) == 10
    assert report.claims[0].value == 1.0
    assert "generate_truncated" in capsys.readouterr().err
    assert run(["smoke", *options, "--out", str(out)]) == 3


def test_smoke_of_a_server_that_is_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.cli", "serve", "--address", "127.0.0.1:0", "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        out = tmp_path / "smoke.json"
        run(["smoke", "--address", address, "--out", str(out)])
        server.terminate()
    report = load_report(out)
    assert codes(out) <= ONLY_DIRTY
    assert report.runtime_smoke is not None
    assert (report.runtime_smoke.server, report.runtime_smoke.engine) == ("address", "ar")
    assert report.claims[0].value == 1.0


def test_smoke_without_a_server_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["smoke", "--address", "127.0.0.1:1", "--out", str(tmp_path / "smoke.json")]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_tests_turns_results_into_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, out = tmp_path / "results.xml", tmp_path / "tests.json"
    some = ["tests/reports/test_drafters.py", f"--junitxml={results}", "-p", "no:cacheprovider"]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *some], cwd=ROOT, check=True, capture_output=True)
    code = run(["tests", str(results), "--out", str(out), "--json"])
    report = load_report(out)
    assert codes(out) <= ONLY_DIRTY
    assert code == (2 if codes(out) else 0)
    tests = report.platform_tests
    assert tests is not None
    assert tests.git_commit is not None
    assert tests.command is not None
    assert tests.command.startswith("pytest -q tests/reports/test_drafters.py")
    assert len(tests.cases) == tests.tests > 0
    told = json.loads(capsys.readouterr().out)
    assert told["claims"][0]["name"] == "tests_passed/pytest"


def test_tests_that_failed_are_withheld(tmp_path: Path) -> None:
    results, out = tmp_path / "results.xml", tmp_path / "tests.json"
    case = "<testcase name='one'><failure message='no'/></testcase>"
    results.write_text(f"<testsuite name='s' tests='1' failures='1'>{case}</testsuite>")
    assert run(["tests", str(results), "--out", str(out), "--commit", "a" * 40]) == 2
    (claim,) = load_report(out).claims
    assert "TESTS_NOT_GREEN" in claim.withheld_by
    assert "TESTS_OTHER_CODE" in claim.withheld_by
    assert run(["tests", str(results), "--commit", "abc"]) == 64
