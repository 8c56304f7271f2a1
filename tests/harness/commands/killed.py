"""A command that is killed once so many lines of its journal are written, however fast the machine is."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).with_name("killing_k3.py")


def killed(
    lines: int, kill: signal.Signals, arguments: Sequence[str], whom: Literal["command", "measuring"] = "command"
) -> "subprocess.CompletedProcess[str]":
    """Run `k3` with `arguments` in a process of its own; the signal comes once so many lines are in its journal.

    It goes to the command, or to the process that measures. This returns when both have ended and closed what they
    print to. A run that comes to its end before goes on undisturbed.
    """
    command = [sys.executable, str(PROGRAM), str(lines), str(int(kill)), whom, *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
