"""Commands in forked processes that the system ends when they take too much: what each came to.

A process runs many commands one after another, so that Python is started once. Each gets 20 s of CPU, a minute of
time and 1 GB of memory beyond what the process had; a command that takes more ends the process, and the next one
goes on after it.
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.models.sandbox import sandbox

CPU_S = 20
CLOCK_S = 60
MEMORY = 2**30
COMMANDS = 500
"""So many a process runs; the memory of what it keeps is counted with that of the next command."""

CODES = frozenset({0, 2, 3, 64})
"""What a command may end with, whatever it is given; 1 is a bug, 130 an interruption."""

Command = list[str]
CONVERT = "(convert a GGUF file)"
"""Stands for `k3 models fetch`, which converts only files of known digests; the conversion itself is called."""


@dataclass(frozen=True)
class Case:
    """A command that was run, and what is wrong with how it ended; nothing, if `fault` is empty."""

    number: int
    command: Command
    code: int | None
    fault: str = ""


def run_all(numbers: range, command_of: Callable[[int], Command], folder: Path) -> Iterator[Case]:
    """Run the command of every number, in order."""
    left = list(numbers)
    while left:
        results, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(results)
            _work(left[:COMMANDS], command_of, folder, writing)
        os.close(writing)
        begun: tuple[int, Command] | None = None
        with open(results) as lines:
            for line in lines:
                number, command, *ended = json.loads(line)
                begun = None if ended else (number, command)
                if ended:
                    left.pop(0)
                    yield Case(number, command, *ended)
        _, status = os.waitpid(child, 0)
        if begun is not None:
            left.pop(0)
            yield Case(*begun, None, _death(status))
        elif status:
            raise RuntimeError(f"the process that runs commands ended between two of them ({_death(status)})")


def _death(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return f"ended the process with {os.waitstatus_to_exitcode(status)}"
    told = {signal.SIGXCPU: f"took over {CPU_S} s of CPU", signal.SIGALRM: f"took over {CLOCK_S} s"}
    return told.get(signal.Signals(os.WTERMSIG(status)), f"killed by {signal.Signals(os.WTERMSIG(status)).name}")


def _work(numbers: list[int], command_of: Callable[[int], Command], folder: Path, writing: int) -> None:
    """Run the commands and write two lines of each: before it, and what it came to. Never returns."""
    status = 70
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
        if pages:
            limit = pages * resource.getpagesize() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        os.chdir(folder)
        for number in numbers:
            command = command_of(number)
            _tell(writing, [number, command])
            code, fault = _run(command, folder)
            _tell(writing, [number, command, code, fault])
        sandbox._end()  # the only function for the end of Python that is this process's own
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _tell(writing: int, values: object) -> None:
    os.write(writing, json.dumps(values).encode() + b"\n")


def _run(command: Command, folder: Path) -> tuple[int, str]:
    """The exit code of one command within its bounds, and what is wrong with it or with what it prints."""
    from harness.cli import run

    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + CPU_S + 1, resource.RLIM_INFINITY))
    signal.alarm(CLOCK_S)
    printed = {name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("out", "err")}
    with contextlib.redirect_stdout(printed["out"]), contextlib.redirect_stderr(printed["err"]):
        code = _convert(command[1]) if command[0] == CONVERT else run(command)
    signal.alarm(0)
    out, err = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in printed.values())  # type: ignore[attr-defined]
    return code, fault_of(command, code, out, err)


def _convert(path: str) -> int:
    """The exit code of a command that came to a conversion, as `k3 models fetch` does."""
    from harness.base.errors import K3Error
    from harness.models.gguf.convert import convert

    try:
        with tempfile.TemporaryDirectory() as target:
            convert(Path(path), Path(target), lambda written: None)
    except K3Error as error:
        print(f"k3: {error}", file=sys.stderr)
        return error.exit_code
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def fault_of(command: Command, code: int, out: str, err: str) -> str:
    """What is wrong with how a command ended, in a few words; nothing where all is well."""
    if "Traceback" in err or "bug in K3" in err:
        lines = [line for line in err.splitlines() if line and not line.startswith("k3: ")]
        return f"traceback: {lines[-1][:300]}"
    if code not in CODES:
        return f"exit {code}"
    if code in (3, 64) and not err.strip() and not out.strip():
        return f"exit {code} without a word"
    if any(character in out + err for character in "\x1b\x00\x9b"):
        return "control characters in what is printed"
    if "json" in command and code in (0, 2) and not _is_json(out):
        return "JSON was asked for, and something else printed"
    return ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
