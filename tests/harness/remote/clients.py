"""A client in a process of its own, to be killed: `python -m tests.harness.remote.clients ADDRESS`."""

import sys

from harness.engines.base import Block
from harness.engines.remote.client import SessionClient

TEXT = list(range(5, 60))


def main(address: str) -> None:
    """Hold a session, generate on it for ever, and say when the stream has begun."""
    client = SessionClient(address)
    name = client.create("to be killed", hold=True)
    client.append(name, TEXT)
    while True:
        for frame in client.generate(name, 1000):
            if isinstance(frame, Block):
                print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
