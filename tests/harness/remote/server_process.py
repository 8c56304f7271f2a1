"""A server in a process of its own, which ends with the test, however that goes."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
K3 = ("-m", "harness.cli")


@contextmanager
def server_process(*arguments: str, program: Sequence[str] = K3) -> Iterator["subprocess.Popen[str]"]:
    """`k3`, or another program, with these arguments; it has not said anything yet."""
    command = [sys.executable, *program, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield server
        finally:
            server.kill()


def line_of(server: "subprocess.Popen[str]") -> str:
    """The next line that it prints."""
    assert server.stdout is not None
    return server.stdout.readline()
