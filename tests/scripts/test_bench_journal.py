"""The bench of the journal, at its smallest: it runs, and a row writes as many bytes at the end as at the beginning."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_row_writes_no_more_at_the_end() -> None:
    command = [sys.executable, "scripts/bench/bench_journal.py", "--rows", "40"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # what a row takes is no matter for a test
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("bytes written"))
    assert line.endswith("1.00 times (at most 1.5: ok)"), done.stdout
    assert "seconds between rows" in done.stdout
