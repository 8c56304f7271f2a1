"""Commands killed (-9) at random moments and gone on with: an evaluation, codecs and training on k3-tiny, and a fetch.

Fails if a row is lost, half a model passes for one, a command does not go on, or one ends otherwise than one that
nobody killed. Training needs PyTorch and is left out with `--jobs eval kvquant fetch`. What is fetched are wheels of
this machine's own making: pip reaches nothing else.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.harness.commands.random_kills import CODECS, EVAL, F_THETA, Killable, KillableFetch, kill_often  # noqa: E402

JOBS = {job.name: job for job in (EVAL, CODECS, F_THETA)}
FETCH = "fetch"


def job_of(name: str, folder: Path) -> Killable:
    """The command of this name; what it needs is made in `folder`."""
    return KillableFetch.of(folder) if name == FETCH else JOBS[name]


def main() -> None:
    """Kill, print; exit 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="of all jobs together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", nargs="+", choices=[*JOBS, FETCH], default=[*JOBS, FETCH])
    options = parser.parse_args()
    faults: list[str] = []
    for name in options.jobs:
        with tempfile.TemporaryDirectory() as folder:
            share = -(-options.kills // len(options.jobs))
            outcome = kill_often(
                job_of(name, Path(folder)), share, Path(folder), random.Random(f"{options.seed} {name}")
            )
        faults += outcome.faults
        print(f"{name}: {outcome.kills} kills, {outcome.finished} runs that ended", flush=True)
    print("\n".join(faults) or "no row and no model lost, and every command ended as one that nobody killed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
