"""Commands over files that nobody vouches for, spoiled by seed: reports, other tools' files, presets, manifests, model
folders, GGUF files, prose with marked figures, lists of retractions.

Fails on a traceback, an exit code that is none of K3's, 20 s of CPU, a minute, 1 GB of memory, control characters on
a terminal, or JSON that is none. `--first` and `--count 1` run one case again.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fuzz.bounded import run_all  # noqa: E402
from tests.fuzz.cases import command_of, foreign, reports  # noqa: E402

SHOWN = 40


def main() -> None:
    """Run, print; exit 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.perf_counter()
    reports(), foreign()
    numbers = range(options.first, options.first + options.count)
    codes: Counter[int | None] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as name:
        os.environ["K3_CACHE"] = f"{name}/cache"
        made = partial(command_of, options.seed)
        folder = Path(name, "files")
        folder.mkdir()
        for case in run_all(numbers, lambda number: made(number, folder), folder):
            codes[case.code] += 1
            if case.fault:
                faults.append(case)
                print(f"case {case.number}: {' '.join(case.command)}: {case.fault}", file=sys.stderr, flush=True)
            if codes.total() % 1000 == 0:
                print(f"{codes.total()} of {options.count}, {len(faults)} faults", file=sys.stderr, flush=True)
    used = os.times()
    spent = used.user + used.system + used.children_user + used.children_system
    print(f"{codes.total()} commands, {spent:.0f} s of CPU, {time.perf_counter() - began:.0f} s; {len(faults)} faults")
    print(", ".join(f"exit {code}: {count}" for code, count in codes.most_common()))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
