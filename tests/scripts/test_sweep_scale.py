"""The script that tells what a cell of a sweep costs, at its smallest: it must not rot between its runs by hand."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_cell_comes_home_once_and_no_machine_has_two() -> None:
    sizes = ["--workers", "3", "--processes", "2", "--cells", "12", "--seconds", "0.01"]
    script = str(ROOT / "scripts" / "sweep_scale.py")
    done = subprocess.run([sys.executable, script, *sizes], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0].startswith("12 cells of 0.01 s over 3 workers")
    assert told[-1] == "cells not exactly once at home: 0; machines that had two at once: 0"
