"""The run of a job: `k3 eval` of the commit, in a folder of its files, under a guard."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from harness.base.processes.guarded import Command, Ended, run_guarded
from harness.bridge.execution.job import Desk
from harness.bridge.manifest import Request
from harness.plans.preset import BasePreset

_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
"""What the command sees of the executor's environment, beside K3's own variables: no agent, no token."""


def run_command(desk: Desk, request: Request, preset: BasePreset) -> Ended | None:
    """Run the preset; its report, rows and log stay in the desk's folder. None if the guard itself was killed.

    Raises:
        OSError: no process can be started.
    """
    end_left_over(desk)
    desk.out.mkdir(exist_ok=True)
    ended = run_guarded(
        Command(
            argv=(*_awake(), *command_of(request, preset, desk.out)),
            folder=desk.tree,
            environment=_environment(),
            log=desk.log,
            group=desk.group,
            seconds=request.minutes * 60,
        )
    )
    if ended is None:
        end_left_over(desk)
    return ended


def command_of(request: Request, preset: BasePreset, out: Path) -> list[str]:
    """The command of a request, made of the agreed preset and the bounded overrides; no text of the manifest is in it
    but a preset's name and a model's variable, both of fixed forms."""
    settings = [part for setting in request.overrides.settings(preset) for part in ("--set", setting)]
    report = str(out / f"{preset.name}.json")
    return [sys.executable, "-m", "harness.cli", "eval", "--preset", preset.name, *settings, "--out", report]


def end_left_over(desk: Desk) -> None:
    """End the command of an earlier start, if guard and executor died at once and left it alone.

    Its number may belong to another process by now: it is ended only if it still names this desk's folder.
    """
    try:
        group = int(desk.group.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    shown = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(group)], capture_output=True, text=True, check=False
    ).stdout
    if str(desk.out) in shown:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    desk.group.unlink()


def _awake() -> list[str]:
    """macOS sleeps on a machine nobody sits at, unless it is told not to."""
    return ["caffeinate", "-ims"] if sys.platform == "darwin" else []


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {name: value for name, value in os.environ.items() if name.startswith("K3_")}
    return kept | own | {"PYTHONDONTWRITEBYTECODE": "1"}
