"""`k3 bridge run`: answer requests, one at a time, on the machine that has the models."""

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import CannotRunError
from harness.base.file_lock import HeldError, file_lock
from harness.bridge.execution.answering import Answerer, Opinion
from harness.bridge.execution.environment import KINDS
from harness.bridge.execution.executor import Executor
from harness.bridge.execution.job import Desk
from harness.bridge.execution.policy import read_policy
from harness.bridge.names import check_remote
from harness.commands.bridge.options import Key, Remote, clone_here, own_version
from harness.commands.run.options import choice
from harness.fetching.progress import tell


def command(
    remote: Remote = "origin",
    once: Annotated[bool, typer.Option("--once", help="Answer what waits, and end; the default.")] = False,
    watch: Annotated[
        int | None, typer.Option("--watch", min=1, metavar="SECONDS", help="Look again and again, with such pauses.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="What this machine allows; default: K3's bridge.toml."),
    ] = None,
    environment: Annotated[
        str, choice(KINDS, "Packages by the commit's pins, or those that this K3 runs with.", "--environment")
    ] = "isolated",
    key: Key = None,
    patience: Annotated[float, typer.Option(min=0, help="Seconds to wait for a remote that does not answer.")] = 600.0,
) -> None:
    """Answer the requests on the remote, the oldest first.

    One at a time; it runs the code of the commits they name.
    """
    from gate.judging.rule_set import RULE_SET

    if once and watch is not None:
        raise typer.BadParameter("--once and --watch exclude each other")
    repository, allowed = clone_here(), read_policy(policy)
    desk = Desk(repository)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with file_lock(desk.lock):
            who = Answerer(
                own_version(), RULE_SET, judge_folder, "running" if environment == "running" else "isolated", key
            )
            executor = Executor(repository, check_remote(remote), allowed, who, desk, tell, patience)
            _work(executor, watch)
    except OSError as error:
        reason = f"cannot be worked in ({error.strerror}): nothing is lost, and the next `k3 bridge run` goes on"
        raise CannotRunError(f"{desk.folder}: {reason}") from error
    except HeldError as error:
        raise CannotRunError("another executor works in this clone: wait for it, or make a clone of its own") from error


def _work(executor: Executor, watch: int | None) -> None:
    while True:
        try:
            while executor.work() is not None:
                pass
        except CannotRunError as error:
            if watch is None:
                raise
            executor.say(str(error))
        if watch is None:
            executor.say("nothing waits")
            return
        threading.Event().wait(watch)


def judge_folder(folder: Path) -> tuple[Opinion, ...]:
    """What the gate of this K3 says of every report in a folder, each in the light of the others."""
    from gate.judging.batch import judge_paths

    return tuple(
        Opinion(Path(file.path).name, file.verdict, tuple(sorted({found.code for found in file.violations})))
        for file in judge_paths([folder])
    )
