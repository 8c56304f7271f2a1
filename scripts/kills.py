"""Runs killed (-9) at random moments and gone on with: of an evaluation, of codecs and of training on k3-tiny.

Fails if a row is lost, a run does not go on, or one ends otherwise than a run that nobody killed. Training needs
PyTorch and is left out with `--jobs eval kvquant`. Fetching is killed at each of its steps by the tests.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.harness.commands.random_kills import CODECS, EVAL, F_THETA, kill_often  # noqa: E402

JOBS = {job.name: job for job in (EVAL, CODECS, F_THETA)}


def main() -> None:
    """Kill, print; exit 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="of all jobs together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    options = parser.parse_args()
    faults: list[str] = []
    for name in options.jobs:
        with tempfile.TemporaryDirectory() as folder:
            share = -(-options.kills // len(options.jobs))
            outcome = kill_often(JOBS[name], share, Path(folder), random.Random(f"{options.seed} {name}"))
        faults += outcome.faults
        print(f"{name}: {outcome.kills} kills, {outcome.finished} runs that ended", flush=True)
    print("\n".join(faults) or "no row lost, and every run ended as one that nobody killed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
