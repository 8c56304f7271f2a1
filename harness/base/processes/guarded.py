"""A command that runs under a guard: it ends with the process that started it, and at its time limit."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


@dataclass(frozen=True)
class Command:
    """What is run and under what. `group` is a file that will hold the process group; `keep` are descriptors that guard
    and command hold, too, so that a lock lasts as long as any of them. `output` takes what is printed, not `log`."""

    argv: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    log: Path
    group: Path
    seconds: float
    keep: tuple[int, ...] = ()
    output: Path | None = None


@dataclass(frozen=True)
class Ended:
    """How the command ended."""

    exit_code: int
    timed_out: bool


def run_guarded(command: Command, started: Callable[[Callable[[], None]], None] = lambda stop: None) -> Ended | None:
    """Run a command until it ends. None if its guard was killed, or told to stop.

    `started` is called once, with a function that ends the command from any thread.

    Raises:
        OSError: no process can be started.
    """
    told = {
        "command": [*_awake(), *command.argv],
        "folder": str(command.folder),
        "log": str(command.log),
        "output": str(command.output) if command.output is not None else None,
        "group": str(command.group),
        "seconds": command.seconds,
        "keep": command.keep,
    }
    argv = [sys.executable, "-I", str(GUARD), json.dumps(told)]
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=command.folder.parent,
        env=command.environment,
        pass_fds=command.keep,
    ) as guard:
        assert guard.stdin is not None
        assert guard.stdout is not None
        started(guard.stdin.close)
        said = guard.stdout.read()
    try:
        return Ended(**json.loads(said))
    except ValueError:
        return None


def end_left_over(group_file: Path, named: Path) -> None:
    """End the command of an earlier start, if its guard and who started it died at once and left it alone.

    Its number may belong to another process by now: it is ended only if its command line still names `named`.
    """
    try:
        group = int(group_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    shown = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(group)], capture_output=True, text=True, check=False
    ).stdout
    if str(named) in shown:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    group_file.unlink()


def _awake() -> list[str]:
    """macOS sleeps on a machine nobody sits at, unless it is told not to."""
    return ["caffeinate", "-ims"] if sys.platform == "darwin" else []
