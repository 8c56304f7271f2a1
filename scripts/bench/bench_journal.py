"""What a row costs in a long run: bytes written and seconds between two rows, at the first rows and at the last.

Seconds are multiples of what the disk takes at that moment to append as many bytes to another file: its mood changes.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.clock import now
from harness.runs.journal import Journal, settle
from harness.runs.measured_report import measured_report
from reports.journal import MeasuredRow
from reports.report import load_report

MEASURED = Path(__file__).resolve().parents[2] / "reports" / "evidence" / "code-ngram-smollm2.json"
ARM = "fused_ngram"
"""Its first row is written again and again: 9 kB, of a hundred tokens in blocks."""
FIRST, MOST = 10, 1.5
"""From which row on is compared, and what the last rows may cost, as a multiple of the first ones."""


@dataclass(frozen=True)
class Cost:
    """What one row cost, and what the disk took for as many bytes."""

    written: int
    seconds: float
    of_the_disk: float


def written(folder: Path, before: dict[str, tuple[int, int]]) -> tuple[int, dict[str, tuple[int, int]]]:
    """Bytes written into a folder since its files had these inodes and sizes: files anew, or ends of files."""
    after = {path.name: (path.stat().st_ino, path.stat().st_size) for path in folder.iterdir()}
    total = 0
    for name, (inode, size) in after.items():
        then, size_then = before.get(name, (None, 0))
        total += size - size_then if inode == then and size >= size_then else size
    return total, after


def bare_append(descriptor: int, size: int) -> float:
    """Seconds to put as many bytes at the end of a file, and to know that they are on disk."""
    start = now()
    os.write(descriptor, b" " * size)
    os.fsync(descriptor)
    return now() - start


def costs(folder: Path, count: int) -> list[Cost]:
    """What each of `count` rows cost; what the report cost at the end is printed."""
    measured = load_report(MEASURED)
    assert measured.plan is not None
    arm = next(arm for arm in measured.arms if arm.name == ARM)
    bare = (arm.replace(measurements=(), stream_audit=None),)
    skeleton = measured.replace(arms=bare, plan=measured.plan.replace(complete=False), claims=(), gate=None)
    found = []
    with tempfile.TemporaryFile() as other, Journal.open(skeleton, folder / "r.json") as journal:
        _, there = written(folder, {})
        for number in range(count):
            row = MeasuredRow(arm=ARM, row=arm.measurements[0].replace(sample=number, order=number))
            start = now()
            journal.append(row)
            seconds = now() - start
            total, there = written(folder, there)
            found.append(Cost(total, seconds, bare_append(other.fileno(), total)))
        start = now()
        settle(measured_report(journal.skeleton, journal.entries), folder / "r.json")
    print(f"the report of {count} rows is written once, in {now() - start:.1f} s")
    return found


def compare(name: str, unit: str, values: Sequence[float]) -> bool:
    """Print the medians of both ends; whether the last rows cost what the first ones did."""
    window = min(200, (len(values) - FIRST) // 2)
    first, last = (statistics.median(part) for part in (values[FIRST : FIRST + window], values[-window:]))
    fine = last <= MOST * first
    print(
        f"{name:<21} {first:.5g} {unit} from row {FIRST}, {last:.5g} {unit} up to row {len(values)}: "
        f"{last / first:.2f} times (at most {MOST:g}: {'ok' if fine else 'TOO MUCH'})"
    )
    return fine


def main() -> int:
    """Write the rows; 1 if one costs more at the end than at the beginning."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    with tempfile.TemporaryDirectory() as name:
        found = costs(Path(name), parser.parse_args().rows)
    written_alike = compare("bytes written", "bytes", [cost.written for cost in found])
    ratios = [cost.seconds / cost.of_the_disk for cost in found]
    return 0 if compare("seconds between rows", "of the disk's", ratios) and written_alike else 1


if __name__ == "__main__":
    raise SystemExit(main())
