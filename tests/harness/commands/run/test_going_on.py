"""`k3 eval` that was interrupted, killed or finished, and is asked again: no row is lost, none is of another run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness.engines.mlx  # noqa: F401
from harness.cli import run
from harness.runs.journal import read_journal
from harness.runs.measured_report import row_of
from reports.journal import Audited, Begun, End, MeasuredRow, encode, journal_of
from reports.records.plan import Run
from reports.report import Report, load_report
from tests.harness.commands.killed import killed
from tests.harness.commands.run.small_run import arguments, arm_of
from tests.harness.commands.timeless import timeless

TWICE = ("--processes", "2")


def kept(out: Path) -> dict[Run, Any]:
    """The timed rows in the journal beside `out`."""
    lines = read_journal(out)
    assert lines is not None
    rows = [entry for entry in lines.entries if isinstance(entry, MeasuredRow) and entry.counts]
    found = {row_of(entry.arm, entry.row): entry.row for entry in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module", name="whole")
def uninterrupted(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("whole") / "r.json"
    run(arguments(model, out, *TWICE))
    return load_report(out)


@pytest.fixture(scope="module")
def begun(model: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The journal of a run that was killed after two rows."""
    out = tmp_path_factory.mktemp("begun") / "r.json"
    assert killed(7, signal.SIGKILL, arguments(model, out)).returncode == -signal.SIGKILL
    return journal_of(out).read_bytes()


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on_where_it_stopped(
    model: Path, tmp_path: Path, whole: Report, kill: signal.Signals
) -> None:
    out = tmp_path / "r.json"
    stopped = killed(9, kill, arguments(model, out, *TWICE))
    assert stopped.returncode == 130
    assert "k3: interrupted; kept 4 rows in" in stopped.stderr
    assert stopped.stderr.count("k3: interrupted") == 1
    assert "the same command goes on from there" in stopped.stderr
    assert os.listdir(tmp_path) == ["r.json.rows"]
    before = kept(out)
    assert len(before) == 4
    run(arguments(model, out, *TWICE))
    resumed = load_report(out)
    assert resumed.plan is not None
    assert [resume.order for resume in resumed.plan.resumes] == [4]
    rows = {row_of(arm.name, row): row for arm in resumed.arms for row in arm.measurements}
    assert {key: rows[key] for key in before} == before
    assert timeless(resumed) == timeless(whole)
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_run_killed_again_and_again_ends_as_if_nothing_had_happened(
    model: Path, tmp_path: Path, whole: Report
) -> None:
    """Killed in its first process, in its second and in its audits: every row is there once, the first one of each."""
    out = tmp_path / "r.json"
    first: dict[Run, Any] = {}
    for lines in (9, 26, 48):
        whom: Any = "measuring" if lines % 2 else "command"
        stopped = killed(lines, signal.SIGKILL, arguments(model, out, *TWICE), whom)
        assert stopped.returncode == (3 if whom == "measuring" else -signal.SIGKILL), stopped.stderr
        if whom == "measuring":
            assert "k3: the measuring process was killed by SIGKILL" in stopped.stderr.splitlines()[-1]
        assert not out.exists()
        found = kept(out)
        assert {key: found[key] for key in first} == first
        first = found
    lines_left = read_journal(out)
    assert lines_left is not None
    assert any(isinstance(entry, Audited) for entry in lines_left.entries)
    run(arguments(model, out, *TWICE))
    resumed = load_report(out)
    rows = {row_of(arm.name, row): row for arm in resumed.arms for row in arm.measurements}
    assert rows == first
    assert timeless(resumed) == timeless(whole)
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_run_interrupted_before_its_first_row_leaves_nothing(model: Path, tmp_path: Path) -> None:
    stopped = killed(2, signal.SIGINT, arguments(model, tmp_path / "r.json"))
    assert stopped.returncode == 130
    assert "k3: interrupted; nothing is kept" in stopped.stderr
    assert os.listdir(tmp_path) == []


STOPPED_IN_A_ROW = """
import os, pathlib, signal, sys
from harness.cli import run
from harness.runs import timed_process

measure, rows = timed_process.measure, 0

def stopped(*arguments):
    global rows
    timed = arguments[2] is not None  # its place among timed runs, which a warm-up has none of
    rows += timed
    if timed and rows == 3:
        pathlib.Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
        os.killpg(0, signal.SIGSTOP)
    return measure(*arguments)

timed_process.measure = stopped
if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
"""


def is_stopped(pid: str) -> bool:
    asked = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=True)
    return asked.stdout.strip().startswith("T")


def test_a_row_in_which_the_process_was_stopped_is_measured_again_and_both_are_kept(
    model: Path, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    """As by Ctrl-Z and `fg`: the terminal stops both processes, the command and the one that measures."""
    out, program = tmp_path / "r.json", tmp_path / "stopped.py"
    program.write_text(STOPPED_IN_A_ROW)
    command = [sys.executable, str(program), *arguments(model, out)]
    child = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=subprocess_environment,
        start_new_session=True,
    )
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    measuring = program.with_suffix(".pid").read_text()
    while not is_stopped(measuring):  # one of the group may be stopped before the other
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGCONT)
    assert child.wait() in (0, 2)
    report = load_report(out)
    assert {arm.paused is None for arm in report.arms} == {False}
    ((name, found),) = [(arm.name, one) for arm in report.arms for one in arm.paused or ()]
    assert found.pause.stops == 1
    again = next(row for row in arm_of(report, name).measurements if row.order == 2)
    assert (found.row.order, found.row.sample, found.row.repeat) == (2, again.sample, again.repeat)
    assert found.row.token_ids == again.token_ids
    assert report.gate is not None
    assert not {"PAUSED_ROWS", "RUN_ORDER", "RUN_INCOMPLETE"} & {one.code for one in report.gate.violations}


def test_rows_of_two_models_are_not_mixed(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same weights in the same folder under another `rope_theta` are another model."""
    folder, out = tmp_path / "model", tmp_path / "r.json"
    shutil.copytree(model, folder)
    assert killed(9, signal.SIGKILL, arguments(folder, out)).returncode == -signal.SIGKILL
    before = journal_of(out).read_bytes()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"rope_theta": 1234.0}))
    assert run(arguments(folder, out)) == 3
    err = capsys.readouterr().err.splitlines()[-1]
    assert "its rows cannot be gone on with: the model config (verifier model) has changed" in err
    assert journal_of(out).read_bytes() == before


def rewritten(out: Path, edit: Callable[[MeasuredRow], MeasuredRow]) -> None:
    """The journal as somebody could have edited it: its last row is another, and all checksums are right."""
    lines = read_journal(out)
    assert lines is not None
    *before, last = lines.entries
    assert isinstance(last, MeasuredRow)
    data, end = encode(Begun(report=lines.report), End())
    for entry in (*before, edit(last)):
        line, end = encode(entry, end)
        data += line
    journal_of(out).write_bytes(data)


@pytest.mark.parametrize(
    "edit",
    [
        lambda last: last.replace(row=last.row.replace(token_ids=None)),
        lambda last: last.replace(row=last.row.replace(order=99)),
        lambda last: last.replace(row=last.row.replace(sample=2)),
        lambda last: last.replace(arm="other"),
    ],
    ids=["no stream", "another place", "another sample", "another arm"],
)
def test_rows_that_no_run_wrote_are_refused_in_one_line(
    model: Path, tmp_path: Path, begun: bytes, capsys: pytest.CaptureFixture[str], edit: Any
) -> None:
    out = tmp_path / "r.json"
    journal_of(out).write_bytes(begun)
    rewritten(out, edit)
    before = journal_of(out).read_bytes()
    assert run(arguments(model, out)) == 3
    shown = capsys.readouterr().err.splitlines()
    assert "r.json.rows: its rows are not the first of this run; choose another --out" in shown[-1]
    assert [line[:4] for line in shown if line[0] != "["][-1] == "k3: "
    assert journal_of(out).read_bytes() == before


def killed_before_the_journal_went(out: Path) -> None:
    """As if the process had been killed between its last two acts: the report is there, and its journal still is."""
    begun = load_report(out)
    bare = tuple(arm.replace(measurements=(), stream_audit=None, paused=None) for arm in begun.arms)
    journal_of(out).write_bytes(encode(Begun(report=begun.replace(arms=bare)), End())[0])


def test_a_finished_run_named_again_has_nothing_to_do(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.json"
    run(arguments(model, out))
    before = out.read_bytes()
    capsys.readouterr()
    assert run(arguments(model, out)) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "r.json: it is finished; nothing to do" in shown.err
    killed_before_the_journal_went(out)
    assert run(arguments(model, out, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(out)
    assert out.read_bytes() == before
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_finished_report_of_another_run_is_not_overwritten(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.json"
    run(arguments(model, out))
    before = out.read_bytes()
    assert run(arguments(model, out, "--seed", "9")) == 3
    assert "choose another --out" in capsys.readouterr().err
    shutil.copytree(model, tmp_path / "model")
    (tmp_path / "model" / "tokenizer_config.json").write_text("{}")
    other = tmp_path / "model"
    (tmp_path / "kept").mkdir()
    assert run(arguments(other, tmp_path / "kept" / "r.json")) in (0, 2)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"rope_theta": 1234.0}))
    assert run(arguments(other, tmp_path / "kept" / "r.json")) == 3, "of the model as it was"
    assert out.read_bytes() == before
