"""A command that is killed once so many pieces of its work are written, however fast the machine is."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import importlib, os, signal, sys
from harness.cli import run

signal.signal(signal.SIGINT, signal.default_int_handler)
module, name, written, kill = sys.argv[1:5]
journal = getattr(importlib.import_module(module), name)
add, left = journal.add, int(written)

def counted(*arguments):
    global left
    add(*arguments)
    left -= 1
    if not left:
        os.kill(os.getpid(), int(kill))

journal.add = counted
sys.exit(run(sys.argv[5:]))
"""


def killed(
    journal: type, written: int, kill: signal.Signals, arguments: Sequence[str]
) -> "subprocess.CompletedProcess[str]":
    """Run `k3` with `arguments` in a process of its own; the signal comes after `journal.add` was called `written`
    times."""
    command = [sys.executable, "-c", PROGRAM, journal.__module__, journal.__name__, str(written), str(int(kill))]
    return subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
