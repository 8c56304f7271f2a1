"""Every command that prints for people keeps to the width of the place: no line is wider, no word is broken."""

import os
import pty
import struct
import subprocess
import sys
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from harness.cli import run

ROOT = Path(__file__).resolve().parents[3]
COMMAND = "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"

SHOWN = (
    "eval --preset demo --plan",
    "eval --preset nosuch",
    "eval --preset demo --set samples=none",
    "gate check reports/evidence/demo.json README.md",
    "gate claims",
    "gate conclude README.md",
    "gate explain SPEEDUP_SAMPLES",
    "gate explain decode_speedup",
    "gate explain oracle",
    "gate ledger README.md pyproject.toml",
    "gate rules",
    "models list",
    "presets list",
    "report diff reports/evidence/demo.json reports/evidence/demo-smollm2.json",
    "report show reports/evidence/demo.json -v",
    "review --suite tiny --plan",
)
"""Commands that print much, and some that fail."""


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", SHOWN)
def test_nothing_is_wider_than_the_place(
    command: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", str(columns))
    run(command.split())
    out, err = capsys.readouterr()
    assert out + err
    for line in (out + err).splitlines():
        assert len(line) <= columns or len(line.split()[-1]) > columns // 2, f"{line}: and no word of it is too long"


@pytest.mark.parametrize("command", SHOWN)
def test_in_a_pipe_an_error_and_an_entry_are_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "")
    run(command.split())
    out, err = capsys.readouterr()
    assert err.count("\n") <= 1
    if command.endswith((" list", " rules", " claims")) and not command.startswith("models"):
        assert not any(line.startswith(" ") for line in out.splitlines())


def test_an_error_is_folded_on_a_terminal() -> None:
    """One of 80 columns, whatever the environment of the tests says."""
    leader, follower = pty.openpty()
    ioctl(follower, TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    command = [sys.executable, "-c", COMMAND, "report", "show", "no/such/report/in/a/folder/of/a/longer/name.json"]
    done = subprocess.run(command, stderr=follower, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment, check=False)
    os.close(follower)
    printed = os.read(leader, 4096).decode().splitlines()
    os.close(leader)
    assert done.returncode == 3
    assert len(printed) > 1
    assert max(map(len, printed)) <= 80
    assert "no/such/report/in/a/folder/of/a/longer/name.json" in " ".join(printed)
