"""A command that is killed once so many lines of its journal are written, however fast the machine is."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import os, signal, sys
from harness.cli import run
from harness.runs.journal import Journal

signal.signal(signal.SIGINT, signal.default_int_handler)
append, left = Journal.append, int(sys.argv[1])

def counted(*arguments):
    global left
    append(*arguments)
    left -= 1
    if not left:
        os.kill(os.getpid(), int(sys.argv[2]))

Journal.append = counted
sys.exit(run(sys.argv[3:]))
"""


def killed(written: int, kill: signal.Signals, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run `k3` with `arguments` in a process of its own; the signal comes once so many lines are in its journal.

    A run that comes to its end before goes on undisturbed.
    """
    command = [sys.executable, "-c", PROGRAM, str(written), str(int(kill)), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
