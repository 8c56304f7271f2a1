"""`k3 eval --until-width` on a tiny random model: rounds of processes, their looks, and what a kill leaves of them."""

import signal
from pathlib import Path

import pytest

import harness.engines.mlx  # noqa: F401
from gate.claims.looks import look_after
from harness.cli import run
from harness.runs.journal import measured, read_journal
from harness.runs.run_ledger.entries import RunEnded
from harness.runs.run_ledger.ledger_file import read_ledger, state_folder
from reports.content_digest import content_digest
from reports.report import Report, load_report
from tests.gate.asking import ask
from tests.harness.commands.killed import killed
from tests.harness.commands.tiny_runs import tiny_model

ROWS = 8
"""Of a process: four arms on two prompts."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def arguments(model: Path, out: Path, width: str) -> list[str]:
    asked = ("--samples", "2", "--processes", "1", "--until-width", width, "--most-processes", "2")
    settings = ("--set", f"model={model}", "--set", "workload.items=3", "--set", "max_new_tokens=6")
    return ["eval", "--preset", "code-ngram-smollm2", *settings, *asked, "--out", str(out)]


def looks_of(report: Report) -> list[tuple[int, str]]:
    assert report.plan is not None
    assert report.plan.stopping is not None
    return [(look.processes, look.decision) for look in report.plan.stopping.looks]


def test_a_run_ends_where_its_looks_say(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.json"
    assert run(arguments(model, out, "9.99")) in (0, 2)
    report = load_report(out)
    looks = looks_of(report)
    assert looks in ([(1, "narrow")], [(1, "go_on"), (2, "narrow")], [(1, "go_on"), (2, "no_more")])
    assert report.plan.processes == len(looks)  # type: ignore[union-attr]
    assert len(report.arms[0].measurements) == 2 * len(looks)
    assert ask("LOOKS_CONTRADICTED", report) == []
    start, end = (one.entry for one in read_ledger(state_folder()).entries)
    assert isinstance(end, RunEnded)
    assert (start.kind, end.report) == ("start", content_digest(report))
    shown = capsys.readouterr().out
    assert "look after 1 process: the widest interval is" in shown
    assert run(arguments(model, out, "9.99")) == 0
    assert "it is finished; nothing to do" in capsys.readouterr().err


def test_a_run_that_is_killed_between_two_looks_keeps_the_first_and_comes_to_the_second(
    model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "r.json"
    assert killed(25, signal.SIGKILL, arguments(model, out, "0.0001")).returncode == -signal.SIGKILL
    lines = read_journal(out)
    assert lines is not None
    assert ROWS < measured(lines.entries) < 2 * ROWS
    run(arguments(model, out, "0.0001"))
    report = load_report(out)
    assert report.plan is not None
    assert report.plan.stopping is not None
    assert looks_of(report) == [(1, "go_on"), (2, "no_more")]
    for look in report.plan.stopping.looks:
        assert look == look_after(report, report.plan.stopping, look.processes)
    assert [resume.order for resume in report.plan.resumes] == [measured(lines.entries)]
    codes = {violation.code for violation in report.gate.violations} if report.gate is not None else set()
    assert not codes & {"LOOKS_CONTRADICTED", "RUN_ORDER", "RUN_INCOMPLETE", "PLAN_CONTRADICTED", "PRESET_DEPARTED"}


def test_the_options_of_looks_are_of_a_run_with_looks(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (["--budget", "9"], ["--most-processes", "5"]):
        assert run(["eval", "--preset", "demo", *more]) == 64
        assert "say how narrow it is to be" in capsys.readouterr().err
    few = ["eval", "--preset", "demo", "--until-width", "0.1", "--most-processes", "2", "--processes", "3"]
    assert run(few) == 64
    assert "most_processes 2: fewer than the 3 processes before the first look" in capsys.readouterr().err
