"""A server under load: many sessions open, several clients at once for some minutes, clients killed in mid-stream.

Every token is held to what the same history gave before (INV-3 in the server, and here by a second session); it prints
the fastest and the slowest client, the bytes that are left, and ends with 1 on a wrong token, a leak, a client that
failed, or one that got less than half of what the fastest did.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from harness.base.clock import now
from harness.commands.sessions.options import load_engine, served_settings
from harness.engines.base import Block
from harness.engines.remote.client import SessionClient
from harness.remote.device_thread import DeviceThread
from harness.remote.limits import Limits
from harness.remote.server import serving
from harness.remote.service import SessionService

ROOT = Path(__file__).resolve().parents[1]
FAIR = 2
"""How many times the tokens of the slowest client the fastest may get."""
TURN, MOST = 16, 1500
"""Tokens of a turn, and of a history before its session is made anew."""


def talk(address: str, seed: int, sessions: int, until: float, counts: dict[int, int], wrong: list[str]) -> None:
    """One client: what goes wrong with it is as bad as a wrong token."""
    try:
        turns(address, seed, sessions, until, counts, wrong)
    except Exception as error:
        wrong.append(f"client {seed}: {type(error).__name__}: {error}")


def turns(address: str, seed: int, sessions: int, until: float, counts: dict[int, int], wrong: list[str]) -> None:
    """Turns of append and generate over the client's sessions, each held to a session that reads all at once."""
    chance, client = random.Random(seed), SessionClient(address)
    histories: dict[str, list[int]] = {client.create(f"load {seed}", hold=True): [] for _ in range(sessions)}
    counts[seed] = 0
    while now() < until:
        name = chance.choice(list(histories))
        tokens = [chance.randrange(3, 1000) for _ in range(chance.randint(1, TURN))]
        client.append(name, tokens)
        blocks = [frame for frame in client.generate(name, TURN) if isinstance(frame, Block)]
        emitted = [token for block in blocks for token in block.tokens]
        before = [*histories[name], *tokens]
        counts[seed] += len(emitted)
        if chance.random() < 0.05:
            once = client.create("once", hold=True)
            client.append(once, before)
            again = [t for frame in client.generate(once, TURN) if isinstance(frame, Block) for t in frame.tokens]
            wrong += [f"client {seed}: {emitted} and at once {again}"] * (again != emitted)
            client.close_session(once)
        histories[name] = before + emitted
        if len(histories[name]) > MOST:
            client.close_session(name)
            del histories[name]
            histories[client.create(f"load {seed}", hold=True)] = []
    client.close()


def kill(address: str, times: int) -> None:
    """Clients that are killed as soon as their stream has begun."""
    for _ in range(times):
        command = [sys.executable, "-m", "tests.harness.remote.clients", address]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            client.stdout.readline()
            os.kill(client.pid, signal.SIGKILL)


def main() -> None:
    """Load, then look at what is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("clients", 16), ("sessions", 64), ("seconds", 300), ("kills", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    named = served_settings("k3-tiny", "incremental", "ablate", None, "none", 4, 64, None, None, 4, "two_phase")
    limits = Limits(sessions=options.sessions + options.clients + 8)
    counts: dict[int, int] = {}
    wrong: list[str] = []
    with DeviceThread() as device:
        service = SessionService(device.run("load", load_engine(named)).served, limits, device)
        with serving(service, "127.0.0.1:0") as address:
            each, until = options.sessions // options.clients, now() + options.seconds
            threads = [
                threading.Thread(target=talk, args=(address, seed, each, until, counts, wrong))
                for seed in range(options.clients)
            ]
            threads.append(threading.Thread(target=kill, args=(address, options.kills)))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            threading.Event().wait(3)
            left = service.kv_bytes()
    slowest, fastest = min(counts.values(), default=0), max(counts.values(), default=0)
    print(
        f"tokens {sum(counts.values())}, slowest client {slowest}, fastest {fastest}; "
        f"{len(wrong)} wrong, {service.seen.compared} compared by INV-3; {options.kills} killed; {left} bytes left"
    )
    print(*wrong[:3], sep="\n")
    failed = len(counts) < options.clients or slowest * FAIR < fastest
    sys.exit(bool(wrong or left or failed))


if __name__ == "__main__":
    main()
