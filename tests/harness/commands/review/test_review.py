"""`k3 review`: a folder with everything in it, the same however often it was killed, and an exit code that is right."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.cli import run
from harness.review.folder import ReviewFolder, StepRecord
from harness.review.review import Review
from harness.review.suite import load_suite
from reports.report import load_report
from tests.harness.commands.timeless import timeless

ROOT = Path(__file__).resolve().parents[4]
HEAD = 'name = "own"\ntitle = "A short review"\nmemory_gb = 1\ndisk_gb = 0.1\n'
DOCTOR = '[[steps]]\nname = "doctor"\nkind = "doctor"\n'
TESTS = '[[steps]]\nname = "tests"\nkind = "tests"\n'
PARITY = (
    '[[steps]]\nname = "parity"\nkind = "preset"\npreset = "parity-tiny-recorded"\nset = ["samples=1", "blocks={}"]\n'
)
BASELINE = """[[steps]]
name = "baseline"
kind = "preset"
preset = "mac-native-baseline"
set = ["platform=any", "model=k3-tiny", "workload.lines=10", "max_new_tokens=4", "samples=1", "processes=1"]
"""
RESULTS = """<testsuites><testsuite name="s" tests="1" failures="0" errors="0" skipped="0">
<testcase classname="c" name="n" time="0.1"/></testsuite></testsuites>
"""


@pytest.fixture(name="once", scope="module")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A review that nobody disturbed, and its exit code."""
    folder = tmp_path_factory.mktemp("once")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "results.xml").write_text(RESULTS)
        write_suite(DOCTOR, TESTS, PARITY.format(1))
        return folder / "r", review("r")


@pytest.fixture(name="here", autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results.xml").write_text(RESULTS)
    return tmp_path


def write_suite(*steps: str) -> str:
    Path("own.toml").write_text(HEAD + "".join(steps))
    return "own.toml"


def review(out: str, results: str = "results.xml") -> int:
    return run(["review", "--suite", "own.toml", "--tests", results, "--out", out])


def records(folder: Path) -> dict[str, StepRecord]:
    return {
        path.stem: StepRecord.model_validate_json(path.read_bytes()).replace(seconds=None)
        for path in sorted((folder / "steps").glob("*.json"))
    }


def content(folder: Path) -> object:
    """What two reviews have in common: their files, records, reports, and what was printed."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    reports = {path.name: timeless(load_report(path)) for path in sorted((folder / "reports").glob("*.json"))}
    return files, records(folder), reports, (folder / "claims.md").read_text()


def kill_in(step: str, folder: Path, results: str) -> None:
    """Start the review in a process of its own, and kill it as soon as it has begun the step."""
    program = "from harness.cli import main; main()"
    arguments = ["review", "--suite", "own.toml", "--tests", results, "--out", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (folder / "steps" / f"{step}.json").exists():
        assert process.poll() is None
        threading.Event().wait(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_kill_9_in_every_step_ends_in_the_folder_of_an_undisturbed_review(
    here: Path, once: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, code = once
    monkeypatch.setenv("K3_STATE", str(here / "ledger"))  # of the undisturbed one's runs this machine knows nothing
    results = str(whole.parent / "results.xml")
    write_suite(DOCTOR, TESTS, PARITY.format(1))
    for step in ("doctor", "tests", "parity"):
        kill_in(step, here / "killed", results)
    assert review("killed", results) == code
    assert content(here / "killed") == content(whole)
    assert all(record.state == "finished" for record in records(whole).values())
    assert (whole / "index.html").exists()
    assert run(["gate", "check", str(whole / "reports")]) == code


def test_what_is_finished_is_not_run_again_and_another_plan_is_kept_aside(
    here: Path, once: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(once[0], here / "r")
    first = (here / "r" / "reports" / "parity.json").read_bytes()
    write_suite(DOCTOR, PARITY.format(1))
    assert run(["review", "--suite", "own.toml", "--out", "r", "--json"]) == once[1]
    told = capsys.readouterr()
    assert told.err.count("is finished") == 2
    assert (here / "r" / "reports" / "parity.json").read_bytes() == first
    assert [step["state"] for step in json.loads(told.out)["steps"]] == ["finished", "finished"]
    write_suite(DOCTOR, PARITY.format(2))
    assert run(["review", "--suite", "own.toml", "--out", "r"]) in (0, 2)
    assert "kept in" in capsys.readouterr().err
    assert (here / "r" / "aside" / "parity-1" / "parity.json").read_bytes() == first
    assert (here / "r" / "reports" / "parity.json").read_bytes() != first


def test_the_report_of_other_code_is_run_again_and_kept_aside(here: Path, once: tuple[Path, int]) -> None:
    shutil.copytree(once[0], here / "r")
    path = here / "r" / "steps" / "tests.json"
    record = StepRecord.model_validate_json(path.read_bytes())
    path.write_text(record.replace(source=record.source.replace(git_commit="a" * 40)).model_dump_json())
    write_suite(TESTS)
    assert review("r") in (0, 2)
    assert (here / "r" / "aside" / "tests-1" / "tests.json").exists()
    assert records(here / "r")["tests"].source == records(once[0])["tests"].source


def test_a_step_that_fails_keeps_the_others_and_the_code_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_suite(TESTS, DOCTOR)
    (here / "results.xml").write_text("no XML")
    assert review("r") == 3
    out = capsys.readouterr().out
    assert "failed    tests: exit code 3: k3: results.xml: no XML" in out.replace(f"{here}/", "")
    assert "finished  doctor" in out
    (here / "results.xml").write_text(RESULTS)
    assert review("r") in (0, 2)
    assert records(here / "r")["tests"].state == "finished"


def test_what_is_missing_is_told_before_anything_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", "--suite", "mac", "--out", "r"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "K3_MAC_26B" in line or "platform" in line
    assert not (here / "r").exists()


def test_the_plan_shows_every_step_and_what_it_takes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", "--suite", "mac", "--plan"]) == 3
    text = capsys.readouterr().out
    assert "memory 24 GB, disk 18 GB" in text
    assert run(["review", "--suite", "mac", "--plan", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert [step["name"] for step in told["steps"]] == [step.name for step in load_suite("mac").steps]
    assert any("K3_MAC_26B" in problem for problem in told["missing"])
    assert run(["review", "--suite", "tiny", "--plan"]) == 0
    assert list(here.iterdir()) == [here / "results.xml"]


def test_a_plan_tells_what_presets_take_and_which_steps_nobody_knows_of(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A preset that says nothing takes what `k3 eval --plan` tells of it and of those beside it."""
    beside = '[[steps]]\nname = "code"\nkind = "preset"\npreset = "code-tiny"\n'
    write_suite(DOCTOR, beside)
    run(["review", "--suite", "own.toml", "--plan", "--json"])
    told = {step["name"]: step["minutes"] for step in json.loads(capsys.readouterr().out)["steps"]}
    run(["eval", "--preset", "code-tiny", "--plan", "--json"])
    plan = json.loads(capsys.readouterr().out)
    assert told["doctor"] is None
    assert told["code"] == pytest.approx(plan["minutes"] + plan["beside"][0]["minutes"], abs=0.11)
    run(["review", "--suite", "own.toml", "--plan"])
    assert "minutes; how long is not known of doctor\n" in capsys.readouterr().out


def test_without_a_tests_folder_the_step_is_skipped_and_says_why(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.review.step.ROOT", here)
    write_suite(DOCTOR, TESTS)
    assert run(["review", "--suite", "own.toml", "--out", "r"]) == 0
    shown = capsys.readouterr().out
    assert "skipped   tests: an installed K3 has no tests folder: `pip install -e '.[run]'` in a clone of K3" in shown


def test_two_reviews_do_not_work_in_one_folder(here: Path) -> None:
    write_suite(DOCTOR, PARITY.format(1))
    first = subprocess.Popen(
        [sys.executable, "-c", "from harness.cli import main; main()", "review", "--suite", "own.toml", "--out", "r"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (here / "r" / "steps" / "doctor.json").exists():
        assert first.poll() is None
        threading.Event().wait(0.02)
    assert run(["review", "--suite", "own.toml", "--out", "r"]) == 3
    first.send_signal(signal.SIGTERM)
    told = first.communicate()[1]
    assert first.returncode == 130
    assert "k3: interrupted; finished steps are kept in r, and the same command goes on from there" in told


def test_a_step_that_runs_long_says_so_with_the_last_line_of_its_log(here: Path) -> None:
    said: list[str] = []
    Review(load_suite(write_suite(DOCTOR)), ReviewFolder(here / "r"), said.append, beat_s=0.02).run()
    first, *beats, last = said
    assert first.startswith("1/1 doctor: runs; log: ")
    assert beats
    assert all(re.fullmatch(r"1/1 doctor: \d+ s; .+", line) for line in beats)
    assert last.startswith("1/1 doctor: finished after ")
