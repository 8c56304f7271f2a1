"""CPU seconds and peak memory of judging 1,000 distinct reports of about 21 kB with `k3 gate check`, on one core.

The reports are built by the simulation of the tests, each from its own seed, so that nothing can be cached. A core that
others use counts up to twice the CPU seconds for the same work, so beside each run a fixed loop of plain Python is
timed, and seconds are told as that loop takes them on a quiet core. The last line compares with the bounds. The aim is
2 s; with all the rules there are it takes 4 to 5.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from reports.report import Report, report_bytes  # noqa: E402
from tests.gate.honest import Setup, honest_kv_quant, honest_niah, honest_parity  # noqa: E402

CPU_LIMIT_S, MEMORY_LIMIT_MB = 6.0, 150.0
LOOP_STEPS, LOOP_S = 3_000_000, 0.20
"""Steps of the loop, and its CPU seconds on a quiet core of a Xeon at 2.8 GHz."""

FORMATS = ("text", "json", "junit", "sarif", "github")
SAMPLES = {honest_niah: 3, honest_parity: 16, honest_kv_quant: 4}
COMMAND = "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"


def reports(count: int) -> Iterator[Report]:
    """Honest reports, no two alike: half with a restoring arm and its controls, the rest of parity and of codecs."""
    for seed in range(count):
        build = (honest_niah, honest_parity, honest_niah, honest_kv_quant)[seed % 4]
        yield build(Setup(samples=SAMPLES[build], repeats=1, seed=seed))


def judge_all(folder: Path, output: str) -> tuple[float, float, int]:
    """CPU seconds, peak MB and exit code of one `k3 gate check`, start-up of Python included."""
    program = [sys.executable, "-c", COMMAND, "gate", "check", str(folder), "--format", output]
    pid = os.posix_spawn(
        sys.executable,
        program,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, os.waitstatus_to_exitcode(status)


def loop_seconds() -> float:
    """CPU seconds of the loop, now."""
    begun, value = time.process_time(), 0
    for step in range(LOOP_STEPS):
        value = (value * 31 + step) & 0xFFFF
    return time.process_time() - begun


def pin_to_one_core() -> None:
    """Where the system allows it; children inherit it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main() -> None:
    """Build, judge in every format, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=1000)
    count = parser.parse_args().reports
    os.chdir(ROOT)
    pin_to_one_core()
    with tempfile.TemporaryDirectory() as name:
        sizes = []
        for number, report in enumerate(reports(count)):
            data = report_bytes(report)
            Path(name, f"{number:04}.json").write_bytes(data)
            sizes.append(len(data))
        print(f"{count} reports of {sum(sizes) / len(sizes) / 1e3:.1f} kB")
        worst = (0.0, 0.0)
        for output in FORMATS:
            before = loop_seconds()
            seconds, megabytes, code = judge_all(Path(name), output)
            quiet = seconds * LOOP_S * 2 / (before + loop_seconds())
            worst = (max(worst[0], quiet), max(worst[1], megabytes))
            told = f"{seconds:5.2f} s CPU, {quiet:5.2f} s on a quiet core"
            print(f"--format {output:<7} {told}  {megabytes:6.1f} MB  exit {code}")
    fine = worst[0] < CPU_LIMIT_S and worst[1] < MEMORY_LIMIT_MB
    print(f"{'within' if fine else 'OVER'} {CPU_LIMIT_S:g} s and {MEMORY_LIMIT_MB:g} MB")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
