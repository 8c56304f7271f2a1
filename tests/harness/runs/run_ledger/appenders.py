"""Processes that do nothing but append to a ledger, and are killed (-9) while they do.

`python -m tests.harness.runs.run_ledger.appenders --kills 1000` is the campaign; the tests run a small one.
"""

import argparse
import json
import os
import random
import signal
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO

from harness.runs.run_ledger.history import mends
from harness.runs.run_ledger.ledger_file import append, read_ledger
from tests.harness.runs.run_ledger.test_chain import start


@dataclass(frozen=True)
class Outcome:
    """Of `kills` kills: lines told to be on disk, those of them that are not in the chain, and what the chain holds."""

    kills: int
    acknowledged: int
    lost: int
    entries: int
    torn: int
    broken: int
    tail: int


@dataclass(frozen=True)
class Appender:
    """A process that appends, and where it tells the digest of every line that it was told is on disk."""

    process: int
    told: BinaryIO

    @classmethod
    def begin(cls, folder: Path) -> "Appender":
        """Fork one; so none imports anything before it writes."""
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            for number in count():
                os.write(writing, f"{append(start(number), folder)}\n".encode())
        os.close(writing)
        return cls(process, os.fdopen(reading, "rb"))

    def killed(self, after_s: float) -> list[str]:
        """What it had told when it was killed, so long after its first line."""
        first = self.told.readline()
        time.sleep(after_s)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        lines = (first + self.told.read()).splitlines(keepends=True)
        self.told.close()
        return [line.decode().strip() for line in lines if line.endswith(b"\n")]


def kill_appenders(folder: Path, kills: int, at_once: int, seed: int) -> Outcome:
    """Let `at_once` processes append, and kill one of them after the other; then append once more, and look."""
    rng = random.Random(seed)
    running = [Appender.begin(folder) for _ in range(at_once)]
    acknowledged: list[str] = []
    for number in range(kills):
        place = number % at_once
        acknowledged += running[place].killed(rng.random() * 0.005)
        running[place] = Appender.begin(folder)
    for one in running:
        acknowledged += one.killed(0)
    append(start(0), folder)
    chain = read_ledger(folder)
    found = {one.digest for one in chain.entries}
    torn, broken = mends(chain)
    lost = sum(digest not in found for digest in acknowledged)
    return Outcome(kills, len(acknowledged), lost, len(chain.entries), torn, broken, len(chain.tail))


def main() -> None:
    """Run the campaign and print its outcome as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asdict(kill_appenders(Path(folder), arguments.kills, arguments.at_once, seed=0))))


if __name__ == "__main__":
    main()
