"""Work in a fresh process of its own, of which none outlives the other: progress comes back, and what went wrong."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from harness.base.errors import CannotRunError, K3Error
from harness.base.progress import Progress
from harness.base.trust import code_is_trusted, trusting_code

INTERRUPTED = 130
PATIENCE_S = 10.0
"""Seconds that an interrupted process has to end by itself. A row that it is in may be lost, a written one never."""

Step = tuple[int, int, str]
"""What `Progress` is called with."""


def in_fresh_process(work: Callable[..., None], arguments: Sequence[Any], progress: Progress) -> None:
    """Call `work(*arguments, progress)` in a process that is started for it and has ended when this returns.

    `work` is a function of a module, and its arguments can be pickled. An interruption of this process ends that one,
    too, and so does whatever kills this one; what a terminal sends to both reaches only this one.

    Raises:
        K3Error, ModuleNotFoundError: what `work` raised. CannotRunError: the process was killed.
        KeyboardInterrupt: it was told to end. RuntimeError: a bug; its traceback was printed.
    """
    receiver, sender = get_context("spawn").Pipe(duplex=False)
    process = get_context("spawn").Process(
        target=_work, args=(work, arguments, code_is_trusted(), sender), daemon=True, name="k3 measuring"
    )
    _start_deaf(process)
    sender.close()
    try:
        failure = _follow(receiver, progress)
        process.join()
    finally:
        _end(process)
        receiver.close()
    if failure is not None:
        raise failure
    _tell(process.exitcode or 0)


def _start_deaf(process: SpawnProcess) -> None:
    """Start a process that Ctrl-C does not reach: its parent tells it to end, once."""
    resource_tracker.ensure_running()  # started by the process, it would let SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow(receiver: "Connection[Any, Any]", progress: Progress) -> Exception | None:
    """Pass progress on until the process has ended; the error that it sent, if any."""
    failure: Exception | None = None
    while True:
        try:
            told: Step | Exception = receiver.recv()
        except EOFError:
            return failure
        if isinstance(told, Exception):
            failure = told
        else:
            progress(*told)


def _end(process: SpawnProcess) -> None:
    if process.is_alive():
        process.terminate()
        process.join(PATIENCE_S)
    if process.is_alive():
        process.kill()
        process.join()


def _tell(code: int) -> None:
    """Raise what an exit code means where nothing else was told."""
    if code in (INTERRUPTED, -signal.SIGTERM):
        raise KeyboardInterrupt
    if code < 0:
        raise CannotRunError(
            f"the measuring process was killed by {signal.Signals(-code).name} (as a system does that is out of "
            "memory); what was measured is kept: the same command goes on from there"
        )
    if code:
        raise RuntimeError(f"the measuring process ended with code {code}; what it says stands above")


def _work(work: Callable[..., None], arguments: Sequence[Any], trusted: bool, sender: "Connection[Any, Any]") -> None:
    """The process: do the work, and send what there is to tell."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def progress(done: int, total: int, text: str) -> None:
        try:
            sender.send((done, total, text))
        except OSError:
            os._exit(INTERRUPTED)  # nobody is left to hear it

    try:
        with trusting_code(trusted):
            work(*arguments, progress)
    except (K3Error, ModuleNotFoundError) as error:
        sender.send(error)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(INTERRUPTED)
