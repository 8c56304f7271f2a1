"""Kills executors of the bridge (-9) at random moments, and sees that every request ends answered once.

Real git, a bare remote in a temporary folder, K3's own `k3 bridge run`, and a commit whose `k3 eval` is short. Fails if
a request has no answer, if a command was started more often than the answers tell, or if something is left behind.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from harness.bridge.exchange import Exchange, read_exchanges  # noqa: E402
from harness.bridge.git import Repository  # noqa: E402
from harness.bridge.results import read_result  # noqa: E402
from tests.harness.bridge.stand_in import PRESET, executor, stand_in_remote  # noqa: E402


def ask(asker: Repository, number: int) -> None:
    """Push one more request."""
    program = "from harness.cli import main; main()"
    arguments = ["bridge", "request", "--preset", PRESET, "--nonce", f"{number:016x}"]
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    subprocess.run([sys.executable, "-c", program, *arguments], cwd=asker.root, env=environment, check=True)


def kill_some(clone: Repository, starts: Path, kills: int, longest: float) -> None:
    """Start executors, and kill each after a random time; one that ends before counts for nothing."""
    dead = 0
    while dead < kills:
        process = executor(clone, "--watch", "1", K3_STARTS=str(starts), K3_SLEEP="0.5")
        try:
            process.communicate(timeout=random.uniform(0.3, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            dead += 1
        print(f"{dead} killed", file=sys.stderr)


def told_starts(clone: Repository, exchanges: list[Exchange]) -> int:
    """Starts of commands, as the answers tell; 0 if some request has none."""
    if any(exchange.result is None for exchange in exchanges):
        return 0
    results = [read_result(clone, exchange.result) for exchange in exchanges if exchange.result is not None]
    print(Counter(result.outcome for result in results))
    return sum(result.attempts for result in results)


def main() -> int:
    """Ask, kill, finish, look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--longest", type=float, default=6.0, help="seconds an executor lives")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        remote, starts = stand_in_remote(folder), folder / "starts"
        asker, clone = remote.clone("asker"), remote.clone("executor")
        for number in range(options.requests):
            ask(asker, number)
        kill_some(clone, starts, options.kills, options.longest)
        executor(clone, K3_STARTS=str(starts)).communicate()
        exchanges = read_exchanges(clone, "origin")
        told, counted = told_starts(clone, exchanges), len(starts.read_text().splitlines())
        left = [path.name for path in (clone.root / ".git" / "k3-bridge").iterdir()]
        left += [path.name for path in (clone.root / ".git").rglob("*.lock")]
    print(f"{len(exchanges)} requests, {options.kills} kills; {counted} starts, {told} told; left behind: {left}")
    whole = len(exchanges) == options.requests and told >= counted >= options.requests
    return 0 if whole and not left else 1


if __name__ == "__main__":
    sys.exit(main())
