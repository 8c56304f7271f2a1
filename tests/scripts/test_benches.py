"""Every benchmark runs, at its smallest size: what it measures is not looked at, since no test depends on the clock."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALLEST = {
    "bench_codecs.py": ["--megabytes", "1", "--runs", "1"],
    "bench_engines.py": ["--model", "k3-tiny", "--rounds", "1", "--tokens", "4", "--lines", "12"],
    "bench_fused.py": ["--model", "k3-tiny", "--samples", "1", "--tokens", "8", "--items", "3"],
    "bench_gate.py": ["--reports", "4"],
    "bench_journal.py": ["--rows", "20"],
    "bench_prefill_memory.py": ["--model", "k3-tiny", "--lengths", "200", "400"],
    "bench_startup.py": ["--runs", "1"],
    "bench_torch.py": ["--model", "k3-tiny", "--samples", "1", "--tokens", "16", "--items", "3"],
}
SAYS = {
    "bench_torch.py": [
        r"fused ngram of transformers +1 of 1 streams equal generate's, [1-9]\d* tokens drafted",
        r"the blocks and drafts of transformers-assisted ngram on 1 of 1 prompts",
        r"fused ngram / transformers-assisted ngram .*; no bound",
    ]
}
"""What is the same on every machine."""


def test_every_benchmark_is_run_here() -> None:
    assert {path.name for path in (ROOT / "scripts" / "bench").glob("bench_*.py")} == set(SMALLEST)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.torch) if name == "bench_torch.py" else name for name in SMALLEST]
)
def test_it_runs_and_says_what_it_found(name: str) -> None:
    command = [sys.executable, f"scripts/bench/{name}", *SMALLEST[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.count("\n") >= 2
    for line in SAYS.get(name, []):
        assert re.search(line, done.stdout), done.stdout
