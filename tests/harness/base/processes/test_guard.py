"""The guard ends what it runs, and what that started: at the limit, and when the executor dies."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from harness.base.processes.guarded import GUARD


def start(folder: Path, program: str, seconds: float) -> "subprocess.Popen[bytes]":
    told: dict[str, Any] = {
        "command": [sys.executable, "-c", program],
        "folder": str(folder),
        "log": str(folder / "log"),
        "group": str(folder / "group"),
        "seconds": seconds,
        "keep": [],
        "output": None,
    }
    command = [sys.executable, "-I", str(GUARD), json.dumps(told)]
    kept = {"PATH": os.environ["PATH"]}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=kept)


def group_of(folder: Path) -> int:
    while True:
        try:
            return int((folder / "group").read_text())
        except (OSError, ValueError):
            threading.Event().wait(0.05)


def alive(group: int) -> bool:
    shown = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    return any(line.split()[0] == str(group) and "Z" not in line.split()[1] for line in shown.splitlines())


def gone(group: int) -> bool:
    for _ in range(200):
        if not alive(group):
            return True
        threading.Event().wait(0.05)
    return False


def test_a_command_that_ends_tells_its_code_and_leaves_its_log(tmp_path: Path) -> None:
    guard = start(tmp_path, "import sys, os; print(os.environ.get('HOME')); sys.exit(3)", 30)
    assert guard.stdout is not None
    out = guard.stdout.read()
    assert json.loads(out) == {"exit_code": 3, "timed_out": False}
    assert (tmp_path / "log").read_text() == "None\n"


def test_the_limit_ends_the_command_and_its_children(tmp_path: Path) -> None:
    guard = start(tmp_path, "import time, subprocess, sys; subprocess.run(['sleep', '300'])", 1)
    assert guard.stdout is not None
    out = guard.stdout.read()
    assert json.loads(out) == {"exit_code": -signal.SIGKILL, "timed_out": True}
    assert gone(group_of(tmp_path))


def test_the_command_ends_with_the_executor(tmp_path: Path) -> None:
    guard = start(tmp_path, "import subprocess; subprocess.run(['sleep', '300'])", 300)
    group = group_of(tmp_path)
    assert alive(group)
    assert guard.stdin is not None
    guard.stdin.close()
    guard.wait()
    assert gone(group)
