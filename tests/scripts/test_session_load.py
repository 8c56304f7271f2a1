"""The load on a server, at its smallest: it must not rot between its runs by night."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_small_load_leaves_nothing_and_tells_what_the_server_holds() -> None:
    sizes = ["--seconds", "2", "--clients", "2", "--sessions", "4", "--kills", "2"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "session_load.py"), *sizes], capture_output=True, text=True, check=False
    )
    assert "leak" not in done.stdout
    assert done.stdout.count("0 sessions, 0 bytes of K/V") == 3, done.stderr
    assert re.search(r"the second load added -?[\d.]+ MB resident; MLX holds -?[\d.]+ MB more; 0 wrong", done.stdout)
