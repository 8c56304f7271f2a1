"""The script that kills executors of the bridge, at its smallest: it must not rot between its runs by night."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_killed_executor_leaves_nothing_and_its_request_is_answered_once() -> None:
    sizes = ["--kills", "1", "--requests", "1", "--longest", "1.5"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bridge_kills.py"), *sizes], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 requests, 1 kills; ")
    assert done.stdout.splitlines()[-1].endswith("left behind: []")
