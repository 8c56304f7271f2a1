"""What a file costs is bounded by the rows it holds, never by a number that stands in it."""

import subprocess
import sys
from pathlib import Path

from tests.gate.judging.hostile_numbers import HOSTILE, hostile, reports

ROOT = Path(__file__).parents[3]


def test_no_number_in_a_report_keeps_the_gate_busy_or_breaks_a_rule():
    command = [sys.executable, "-m", "tests.gate.judging.hostile_numbers"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]} {done.stderr[-500:]}"
    assert [line for line in lines if line.startswith("FAILED")] == []
    assert len(lines) > 350


def test_every_hostile_value_is_among_what_is_judged():
    told = " ".join(what for document in reports() for what, _ in hostile(document))
    assert all(f"{value!r})" in told for value in HOSTILE)
