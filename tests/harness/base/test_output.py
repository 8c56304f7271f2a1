"""What happens to a command whose output goes nowhere: a full disk, a closed pipe, a closed descriptor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import run
from reports.report import load_report

ROOT = Path(__file__).resolve().parents[3]
MAIN = "from harness.cli import main; main()"
RUN = "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"
EVIDENCE = "reports/evidence/demo-code-tiny.json"
PRINTING = [
    ["--help"],
    ["--version"],
    ["gate", "--help"],
    ["gate", "check", EVIDENCE],
    ["gate", "check", EVIDENCE, "--format", "json"],
    ["gate", "check", EVIDENCE, "--format", "sarif"],
    ["gate", "rules"],
    ["gate", "claims", "--json"],
    ["gate", "explain", "RETRACTED"],
    ["gate", "ledger", "README.md"],
    ["report", "show", EVIDENCE],
    ["report", "diff", EVIDENCE, "reports/evidence/demo.json"],
    ["report", "table", EVIDENCE],
    ["report", "schema"],
    ["models", "list"],
    ["presets", "list"],
    ["presets", "show", "demo"],
    ["niah", "--help"],
    ["niah", "--plan"],
    ["train", "ftheta", "--help"],
    ["doctor", "--json"],
]
"""A command line of every kind that prints to stdout."""

BUFFERINGS = [*((arguments, "") for arguments in PRINTING), (["--help"], "1"), (["gate", "rules"], "1")]
"""Each as pipes and files are written to, in blocks; and two as with `python -u`, for how stdout is buffered is no
matter of the command."""
each_command = pytest.mark.parametrize(
    ("arguments", "buffering"), [pytest.param(*each, id=" ".join([*each[0], each[1]]).strip()) for each in BUFFERINGS]
)
QUICK_RUN = ["niah", "--model", "k3-tiny", "--lines", "8", "--samples", "1", "--processes", "1"]


def without_reader(command: list[str], buffering: str, **streams: int) -> "subprocess.CompletedProcess[bytes]":
    """Run with stdout a pipe whose reader has gone, as in `| head -0`, where `streams` names no other place."""
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONUNBUFFERED": buffering}
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, check=False, **({"stdout": writer} | streams))
    finally:
        os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@each_command
def test_a_full_stdout_is_3_in_one_line(arguments: list[str], buffering: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": buffering},
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(b"k3: stdout cannot be written (")
    assert done.stderr.count(b"\n") == 1


@each_command
def test_without_a_reader_a_command_is_silent_and_its_exit_code_is_its_own(
    arguments: list[str], buffering: str
) -> None:
    done = without_reader([sys.executable, "-m", "harness.cli", *arguments], buffering, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_violation_is_2_whoever_reads(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(Path(EVIDENCE).read_text().replace('"samples"', '"simples"', 1))
    done = without_reader([sys.executable, "-m", "harness.cli", "gate", "check", str(broken)], "")
    assert done.returncode == 2


@pytest.mark.parametrize("buffering", ["", "1"])
@pytest.mark.parametrize("program", [["-c", MAIN], ["-c", RUN], ["-m", "harness.cli"]], ids=" ".join)
@pytest.mark.parametrize(("arguments", "code"), [("--help", 0), ("gate", 3), ("gate rules", 0), ("no-such-command", 3)])
def test_a_closed_pipe_of_both_streams_ends_however_it_was_started(
    arguments: str, code: int, program: list[str], buffering: str
) -> None:
    """What is to be told on stderr ends the command; what is printed on stdout is not missed."""
    done = without_reader([sys.executable, *program, *arguments.split()], buffering, stderr=subprocess.STDOUT)
    assert done.returncode == code


def test_a_closed_pipe_ends_a_run_and_the_same_command_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    command = [*QUICK_RUN, "--out", str(out)]
    done = without_reader([sys.executable, "-m", "harness.cli", *command], "", stderr=subprocess.STDOUT)
    assert done.returncode == 3
    run(command)
    assert load_report(out).gate is not None


def test_a_closed_stderr_leads_nowhere(tmp_path: Path) -> None:
    """Neither to stdout, nor into the next file that is opened."""
    program = f"'{sys.executable}' -m harness.cli {' '.join(QUICK_RUN)} --out '{tmp_path / 'run.json'}' 2>&-"
    done = subprocess.run(["sh", "-c", program], stdout=subprocess.PIPE, cwd=ROOT, check=False)
    assert b"warming up" not in done.stdout
    assert done.stdout.decode().splitlines()[-1] == f"report: {tmp_path / 'run.json'}"
    assert load_report(tmp_path / "run.json").gate is not None


def test_a_closed_stdout_is_3_in_one_line() -> None:
    program = f"exec '{sys.executable}' -c '{MAIN}' gate rules >&-"
    done = subprocess.run(["sh", "-c", program], stderr=subprocess.PIPE, cwd=ROOT, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith(b"k3: stdout is closed")
    assert done.stderr.count(b"\n") == 1
