"""The command line as a whole: help, version, wrong usage, and a stdout that cannot be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import run

ROOT = Path(__file__).resolve().parents[2]
MAIN = "from harness.cli import main; main()"
EVIDENCE = str(ROOT / "reports" / "evidence" / "demo-smollm2.json")
ARGUMENTS = [
    ["--help"],
    ["--version"],
    ["gate", "check", EVIDENCE],
    ["gate", "check", EVIDENCE, "--format", "json"],
    ["gate", "rules"],
    ["report", "show", EVIDENCE],
    ["report", "schema"],
    ["presets", "list"],
    ["niah", "--plan"],
]


@pytest.mark.parametrize("arguments", [[], ["gate"], ["report"], ["models"], ["presets"], ["train"]])
def test_a_group_alone_prints_its_help_and_is_wrong_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Usage: {' '.join(['k3', *arguments])} ")
    assert "Commands:" in err


def test_the_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("k3 ")
    assert out.count("\n") == 1
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["--frobnicate"], "k3"),
        (["gate", "chekc"], "k3 gate"),
        (["gate", "check"], "k3 gate check"),
        (["niah", "--lins", "3"], "k3 niah"),
        (["report", "show"], "k3 report show"),
    ],
)
def test_wrong_usage_names_the_help_of_its_command(
    arguments: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    assert f"(see {command} --help)" in capsys.readouterr().err


def test_a_word_for_a_number_is_told_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["niah", "--samples", "x"]) == 64
    assert capsys.readouterr().err == ("k3: Invalid value for '--samples': give a whole number (see k3 niah --help)\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["niah", "--window", "0"], "k3: --window 0: Input should be greater than or equal to 1"),
        (["niah", "--lines", "1"], "k3: --lines 1: Input should be greater than or equal to 5"),
        (["niah", "--samples", "0", "--lines", "1"], "k3: --samples 0: "),
        (["niah", "--max-new-tokens", "1"], "k3: --max-new-tokens 1: "),
        (["code", "--block-size", "0"], "k3: --block-size 0: "),
    ],
)
def test_a_value_out_of_range_names_its_flag(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--plan"]) == 64
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert "more" not in err or "--lines" in arguments


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("buffering", ["", "1"])
@pytest.mark.parametrize("arguments", ARGUMENTS)
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


@pytest.mark.parametrize("buffering", ["", "1"])
@pytest.mark.parametrize("start", [MAIN, "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"])
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_pipe_without_a_reader_ends_a_command_in_silence(arguments: list[str], start: str, buffering: str) -> None:
    done = without_reader([sys.executable, "-c", start, *arguments], "stdout", buffering)
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize("arguments", [["gate", "nonsense"], ["report", "show", "nowhere.json"], []])
def test_a_complaint_that_nobody_reads_ends_in_silence(arguments: list[str]) -> None:
    done = without_reader([sys.executable, "-c", MAIN, *arguments], "stderr", "")
    assert (done.returncode, done.stdout) == (3, b"")


def without_reader(command: list[str], stream: str, buffering: str) -> "subprocess.CompletedProcess[bytes]":
    """Run with one of the two streams a pipe whose reader has gone; the other is captured."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: writer}
    environment = os.environ | {"PYTHONUNBUFFERED": buffering}
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, check=False, **streams)
    finally:
        os.close(writer)


def test_a_closed_stderr_is_not_missed_and_takes_no_place_in_the_result() -> None:
    program = f"exec '{sys.executable}' -c '{MAIN}' report show nowhere.json 2>&-"
    done = subprocess.run(["sh", "-c", program], stdout=subprocess.PIPE, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (3, b"")


def test_a_closed_stdout_is_3_in_one_line() -> None:
    program = f"exec '{sys.executable}' -c '{MAIN}' gate rules >&-"
    done = subprocess.run(["sh", "-c", program], stderr=subprocess.PIPE, cwd=ROOT, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith(b"k3: stdout is closed")
    assert done.stderr.count(b"\n") == 1
