"""A server under load: many sessions open, several clients at once for some minutes, clients killed in mid-stream.

The load comes twice, each time for half of the seconds, and all sessions are closed after each. What the server's
process holds is read before, between and after. Every token is held to what the same history gave before (INV-3 in the
server, and here by a second session). It ends with 1 on a wrong token, a client that failed or got less than half of
what the fastest did, sessions or K/V that are left, bytes of MLX that do not come back, or a process that the second
load made larger than the first by more than `GROWTH_MB`.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from harness.base.clock import now
from harness.engines.base import Block
from harness.engines.remote.client import SessionClient

ROOT = Path(__file__).resolve().parents[1]
FAIR = 2
"""How many times the tokens of the slowest client the fastest may get."""
TURN, MOST = 16, 1500
"""Tokens of a turn, and of a history before its session is made anew."""
GROWTH_MB, MLX_MB = 16.0, 1.0
"""What a second load may add to the resident memory of a process that had the first, and to what MLX holds."""
SETTLE_S = 30.0
"""Until sessions of clients that are gone have been closed."""


class Server:
    """The server's process: where it listens, and what it says that it holds."""

    def __init__(self, process: "subprocess.Popen[str]", given: IO[str], told: IO[str]) -> None:
        self._pid, self._given, self._told = process.pid, given, told
        self.address = told.readline().strip()

    def held(self) -> dict[str, float]:
        """Sessions, bytes of K/V, MB of MLX and of the process, comparisons by INV-3; once what was closed is gone."""
        late = now() + SETTLE_S
        while (held := self._ask())["sessions"] and now() < late:
            threading.Event().wait(0.2)
        return held

    def _ask(self) -> dict[str, float]:
        print(file=self._given, flush=True)
        held = json.loads(self._told.readline())
        resident = subprocess.run(["ps", "-o", "rss=", "-p", str(self._pid)], stdout=subprocess.PIPE, check=True)
        mlx = {name: held.pop(name) / 1e6 for name in ("mlx_active", "mlx_cache")}
        return held | mlx | {"resident": int(resident.stdout) * 1024 / 1e6}


@contextmanager
def started(sessions: int) -> Iterator[Server]:
    """A server that ends with the context."""
    command = [sys.executable, "-m", "scripts.load_server", str(sessions)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Server(process, process.stdin, process.stdout)
        finally:
            process.kill()


def talk(address: str, seed: int, sessions: int, until: float, counts: dict[int, int], wrong: list[str]) -> None:
    """One client: what goes wrong with it is as bad as a wrong token."""
    try:
        with closing(SessionClient(address)) as client:
            turns(client, seed, sessions, until, counts, wrong)
    except Exception as error:
        wrong.append(f"client {seed}: {type(error).__name__}: {error}")


def turns(
    client: SessionClient, seed: int, sessions: int, until: float, counts: dict[int, int], wrong: list[str]
) -> None:
    """Turns of append and generate over the client's sessions, each held to a session that reads all at once."""
    chance = random.Random(seed)
    histories: dict[str, list[int]] = {client.create(f"load {seed}", hold=True): [] for _ in range(sessions)}
    while now() < until:
        name = chance.choice(list(histories))
        tokens = [chance.randrange(3, 1000) for _ in range(chance.randint(1, TURN))]
        client.append(name, tokens)
        emitted = generated(client, name)
        before = [*histories[name], *tokens]
        counts[seed] += len(emitted)
        if chance.random() < 0.05:
            once = client.create("once", hold=True)
            client.append(once, before)
            again = generated(client, once)
            wrong += [f"client {seed}: {emitted} and at once {again}"] * (again != emitted)
            client.close_session(once)
        histories[name] = before + emitted
        if len(histories[name]) > MOST:
            client.close_session(name)
            del histories[name]
            histories[client.create(f"load {seed}", hold=True)] = []


def generated(client: SessionClient, name: str) -> list[int]:
    """The tokens of one turn."""
    return [token for frame in client.generate(name, TURN) if isinstance(frame, Block) for token in frame.tokens]


def kill(address: str, times: int) -> None:
    """Clients that are killed as soon as their stream has begun."""
    for _ in range(times):
        command = [sys.executable, "-m", "tests.harness.remote.clients", address]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            client.stdout.readline()
            os.kill(client.pid, signal.SIGKILL)


def load(address: str, clients: int, sessions: int, seconds: float, kills: int, wrong: list[str]) -> list[int]:
    """All clients at once, until the seconds have passed; the tokens that each got."""
    counts, until = dict.fromkeys(range(clients), 0), now() + seconds
    threads = [
        threading.Thread(target=talk, args=(address, seed, sessions // clients, until, counts, wrong))
        for seed in range(clients)
    ]
    threads.append(threading.Thread(target=kill, args=(address, kills)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(counts.values())


def main() -> None:
    """Load twice, and look at what is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("clients", 16), ("sessions", 64), ("seconds", 300), ("kills", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    wrong: list[str] = []
    faults: list[str] = []
    with started(options.sessions + options.clients + 8) as server:
        readings = [server.held()]
        for kills in (options.kills // 2, options.kills - options.kills // 2):
            each = options.clients, options.sessions, options.seconds / 2, kills
            counts = load(server.address, *each, wrong)
            readings.append(server.held())
            slowest, fastest = min(counts), max(counts)
            print(f"tokens {sum(counts)}, slowest client {slowest}, fastest {fastest}; {kills} killed")
            faults += [f"unfair: {slowest} tokens and {fastest}"] * (slowest * FAIR < fastest or not slowest)
    for moment, one in zip(("before", "after one load", "after two"), readings, strict=True):
        print(
            f"{moment}: {one['resident']:.1f} MB resident, MLX {one['mlx_active']:.2f} MB and {one['mlx_cache']:.2f} "
            f"cached; {one['sessions']} sessions, {one['kv_bytes']} bytes of K/V; {one['compared']} compared by INV-3"
        )
        faults += [f"{moment}: sessions or K/V are left"] * bool(one["sessions"] or one["kv_bytes"])
    grown = readings[2]["resident"] - readings[1]["resident"]
    kept = readings[2]["mlx_active"] - readings[0]["mlx_active"]
    print(f"the second load added {grown:.1f} MB resident; MLX holds {kept:.2f} MB more; {len(wrong)} wrong")
    faults += [f"leak: {grown:.1f} MB resident, {GROWTH_MB:g} may be"] * (grown > GROWTH_MB)
    faults += [f"leak: {kept:.2f} MB of MLX, {MLX_MB:g} may be"] * (kept > MLX_MB)
    print(*wrong[:3], *faults, sep="\n")
    sys.exit(bool(wrong or faults))


if __name__ == "__main__":
    main()
