"""Ctrl-C, as a real SIGINT: whatever command it meets ends with exit code 130 and one line."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import os, signal, sys, threading, time

def once_loaded(module):
    while module not in sys.modules:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=once_loaded, args=sys.argv[1:2], daemon=True).start()
from harness.cli import run
sys.exit(run(sys.argv[2:]))
"""
"""`k3`, with Ctrl-C once it has loaded a module that it needs for its work."""


def interrupted(module: str, arguments: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, module, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.default_int_handler
        ),  # what runs in the background has none
    )


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("gate.judging.batch", ["gate", "check", str(ROOT / "reports" / "evidence")]),
        ("gate.render.page.tables", ["report", "html", str(ROOT / "reports" / "evidence"), "--out", "site"]),
        ("harness.plans.requirements", ["eval", "--preset", "demo"]),
        ("harness.commands.doctor", ["doctor"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_ctrl_c_ends_a_command_with_130_and_one_line(module: str, arguments: list[str], tmp_path: Path) -> None:
    done = interrupted(module, arguments, tmp_path)
    assert (done.returncode, done.stderr.splitlines()) == (130, ["k3: interrupted"])
