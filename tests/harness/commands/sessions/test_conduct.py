"""`k3 smoke` and `k3 tests`, from the command line to a report that is judged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import run
from reports.report import load_report
from tests.harness.remote.certificates import Authority
from tests.harness.remote.server_process import line_of, server_process
from tests.plugged_in import plugged_in, write_package

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


def test_smoke_of_a_server_that_is_there_over_mtls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority = Authority(tmp_path, "authority")
    theirs, mine, late = authority.sign("server"), authority.sign("client"), authority.sign("late", expired=True)
    asked = ["--address", "127.0.0.1:0", "--json", "--tls-key", str(theirs.key)]
    asked += ["--tls-certificate", str(theirs.certificate), "--tls-client-ca", str(authority.certificate)]
    trusting = ["--tls-ca", str(authority.certificate)]
    with server_process("serve", *asked) as server:
        address = json.loads(line_of(server))["address"]
        out = tmp_path / "smoke.json"
        asked = ["smoke", "--address", address, "--out", str(out)]
        assert run(asked) == 3
        assert "the server speaks TLS" in one_line_of(capsys)
        assert run([*asked, *trusting]) == 3
        assert "wants a certificate of its client" in one_line_of(capsys)
        assert run([*asked, *trusting, "--tls-key", str(late.key), "--tls-certificate", str(late.certificate)]) == 3
        assert "refuses this client's certificate" in one_line_of(capsys)
        assert not out.exists()
        run([*asked, *trusting, "--tls-key", str(mine.key), "--tls-certificate", str(mine.certificate)])
    report = load_report(out)
    assert codes(out) <= ONLY_DIRTY
    assert report.runtime_smoke is not None
    assert (report.runtime_smoke.server, report.runtime_smoke.engine) == ("address", "ar")
    assert report.claims[0].value == 1.0


def one_line_of(capsys: pytest.CaptureFixture[str]) -> str:
    """All that was said on stderr, which is one line."""
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ([], 3, "--address 127.0.0.1:1: nothing listens there; start `k3 serve`"),
        (["--engine", "fused", "--window", "32"], 64, "--engine, --window: the server at --address decides that"),
        (["--trust-code"], 64, "--trust-code: the server at --address decides that"),
        (["--tls-key", "key.pem"], 64, "--tls-key and --tls-certificate come together, and with --tls-ca"),
        (["--tls-ca", "none.pem"], 3, "none.pem: cannot be read"),
        (["--token-file", "none"], 3, "none: no token can be read"),
    ],
)
def test_smoke_of_a_server_that_cannot_be_asked_is_a_line(
    options: list[str], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["smoke", "--address", "127.0.0.1:1", "--out", str(tmp_path / "smoke.json"), *options]) == code
    assert told in one_line_of(capsys)


def test_what_is_of_a_server_at_an_address_means_nothing_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["smoke", "--token-file", "token"]) == 64
    assert "--token-file: for a server at --address" in one_line_of(capsys)


@pytest.mark.parametrize(
    ("options", "told"),
    [(["nowhere"], "--address nowhere: give HOST:PORT"), (["h:1", "--tls-ca", "x" * 1001], "--tls-ca xxx")],
)
def test_an_option_of_a_server_that_does_not_fit_is_named(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["smoke", "--address", *options]) == 64
    assert told in one_line_of(capsys)


APPENDING = """
from dataclasses import replace

from reports.engines import ORACLE, EngineEntry

ENGINE = EngineEntry(replace(ORACLE, name="appending", decode_loop="their_step"), "their_sessions_engine:Appending")
"""
ENGINE = """
from harness.engines.mlx.engines.ar import ArEngine
from their_sessions import ENGINE


class Appending(ArEngine):
    kind = ENGINE.kind
"""


def test_smoke_of_an_engine_of_another_package_names_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_package(tmp_path, "their-sessions", APPENDING, {"engines": {"appending": "ENGINE", "gone": "NOWHERE"}})
    (tmp_path / "their_sessions_engine.py").write_text(ENGINE)
    out = tmp_path / "smoke.json"
    with plugged_in(tmp_path):
        assert run(["smoke", "--engine", "gone"]) == 64
        assert "plug-in k3.engines their-sessions:gone 1.2: " in one_line_of(capsys)
        run(["smoke", "--engine", "appending", "--out", str(out)])
        report = load_report(out)
        assert codes(out) <= ONLY_DIRTY
    assert report.runtime_smoke is not None
    assert (report.runtime_smoke.engine, report.runtime_smoke.decode_loop) == ("appending", "their_step")
    (plugin,) = report.provenance.plugins or ()
    assert (plugin.name, plugin.distribution, plugin.version) == ("appending", "their-sessions", "1.2")
    assert report.claims[0].value == 1.0
    for name in ("their_sessions", "their_sessions_engine"):
        sys.modules.pop(name, None)


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
