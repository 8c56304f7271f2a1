"""A server in a process of its own, which ends with the test, however that goes."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
K3 = ("-m", "harness.cli")


@contextmanager
def server_process(
    *arguments: str, program: Sequence[str] = K3, env: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """`k3`, or another program, with these arguments; it has not said anything yet."""
    command, pipe = [sys.executable, *program, *arguments], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=env) as server:
        try:
            yield server
        finally:
            server.kill()


def line_of(server: "subprocess.Popen[str]") -> str:
    """The next line that it prints."""
    assert server.stdout is not None
    return server.stdout.readline()
