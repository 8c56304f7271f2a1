"""Asking the process apart. It is started when it is first needed and ends with this one."""

import atexit
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event, Thread
from typing import Any

from harness.base.clock import now
from harness.base.errors import ModelError
from harness.models.sandbox.bounds import BOUNDS, OWN_MEMORY, PATIENCE_S
from reports.untrusted.one_line import one_line

_STEP_S = 0.1
_ENVIRONMENT = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
_running: "subprocess.Popen[bytes] | None" = None


def ask(task: str, **request: Any) -> Any:
    """The answer to a task of `harness.models.sandbox.worker`.

    Raises:
        ModelError: it failed, or took more time or memory than such a task may; the message is the reason alone.
    """
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    answered = Event()
    watch = Thread(target=_watch, args=(process, BOUNDS[task].memory, answered), daemon=True)
    watch.start()
    try:
        process.stdin.write(json.dumps({"task": task} | request).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = b""
    finally:
        answered.set()
        watch.join()
    if not line.endswith(b"\n"):
        raise ModelError(_ended(task, process))
    answer = json.loads(line)
    if "error" in answer:
        raise ModelError(one_line(str(answer["error"])))
    return answer


def _process() -> "subprocess.Popen[bytes]":
    global _running
    if _running is None or _running.poll() is not None:
        command = [sys.executable, "-P", "-m", "harness.models.sandbox.worker"]
        _running = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ENVIRONMENT,
            start_new_session=True,
        )
    return _running


@atexit.register
def _end() -> None:
    if _running is not None:
        _running.kill()
        _running.wait()


def _watch(process: "subprocess.Popen[bytes]", memory: int, answered: Event) -> None:
    """End the process if it takes too long or, where the system sets no bound to memory, if it holds too much."""
    start = now()
    while not answered.wait(_STEP_S):
        too_large = sys.platform == "darwin" and _resident(process.pid) > OWN_MEMORY + memory
        if too_large or now() - start > PATIENCE_S:
            process.kill()


def _resident(pid: int) -> int:
    """Bytes a process holds in memory."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return int(told.strip() or 0) * 1024


def _ended(task: str, process: "subprocess.Popen[bytes]") -> str:
    """Why there is no answer."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE_S)
    process.kill()
    code = process.wait()
    if code == -signal.SIGXCPU:
        return f"takes more than {BOUNDS[task].seconds} s of processor time"
    if code == -signal.SIGKILL:
        return "takes too long or too much memory"
    return f"ends its process ({signal.Signals(-code).name if code < 0 else code})"
