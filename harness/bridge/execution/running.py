"""The run of a job: K3 of the commit, in a folder of its files, under a guard."""

import os
import sys

from harness.base.clock import now
from harness.base.processes.guarded import Command, Ended, end_left_over, run_guarded
from harness.bridge.execution.environment import Isolated, Kind
from harness.bridge.execution.job import Desk
from harness.bridge.manifest import Request
from harness.bridge.task import Task

_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
"""What the command sees of the executor's environment, beside K3's own variables: no agent, no token."""


def run_command(desk: Desk, request: Request, task: Task, kind: Kind) -> Ended | None:
    """Run the task; its reports, rows and log stay in the desk's folder. None if a guard was killed.

    Raises:
        RequestError: no environment can be made of the commit.
        OSError: no process can be started.
    """
    end_left_over(desk.group, desk.out)
    desk.out.mkdir(exist_ok=True)
    start, seconds, python = now(), request.minutes * 60.0, sys.executable
    if kind == "isolated":
        isolated = Isolated(desk, task)
        built = isolated.build(_environment(), seconds)
        if built is None or built.exit_code:
            return built
        python = isolated.python
    ended = run_guarded(
        Command(
            argv=(python, "-m", "harness.cli", *task.command(desk.out)),
            folder=desk.tree,
            environment=_environment(),
            log=desk.log,
            group=desk.group,
            seconds=max(1.0, seconds - (now() - start)),
        )
    )
    if ended is None:
        end_left_over(desk.group, desk.out)
    return ended


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {name: value for name, value in os.environ.items() if name.startswith("K3_")}
    return kept | own | {"PYTHONDONTWRITEBYTECODE": "1"}
