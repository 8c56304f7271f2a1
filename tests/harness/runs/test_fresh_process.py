"""Work in a process of its own: what comes back from it, and that neither outlives the other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CannotRunError, ModelError
from harness.base.progress import Progress, silent
from harness.base.trust import code_is_trusted, trusting_code
from harness.runs.fresh_process import in_fresh_process


def tell(word: str, progress: Progress) -> None:
    progress(1, 2, word)
    progress(os.getpid(), int(code_is_trusted()), "pid, trusted")


def fail(error: Exception, progress: Progress) -> None:
    raise error


def be_killed(kill: signal.Signals, progress: Progress) -> None:
    os.kill(os.getpid(), kill)
    time.sleep(60)


@pytest.mark.parametrize("trusted", [False, True])
def test_it_is_another_process_and_its_progress_comes_back(trusted: bool) -> None:
    told: list[tuple[int, int, str]] = []
    with trusting_code(trusted):
        in_fresh_process(tell, ("hello",), lambda *step: told.append(step))
    assert told[0] == (1, 2, "hello")
    pid, was_trusted, _ = told[1]
    assert pid != os.getpid()
    assert was_trusted == trusted
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("error", [ModelError("m: gone"), ModuleNotFoundError("no mlx", name="mlx")])
def test_what_it_raises_is_raised_here(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)) as raised:
        in_fresh_process(fail, (error,), silent)
    assert getattr(raised.value, "name", None) == getattr(error, "name", None)


def test_a_bug_is_none_of_the_users(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="ended with code 1"):
        in_fresh_process(fail, (ValueError("a bug"),), silent)
    assert "ValueError: a bug" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("kill", "raised"),
    [(signal.SIGKILL, CannotRunError), (signal.SIGSEGV, CannotRunError), (signal.SIGTERM, KeyboardInterrupt)],
)
def test_a_killed_process_is_told(kill: signal.Signals, raised: Any) -> None:
    with pytest.raises(raised) as found:
        in_fresh_process(be_killed, (kill,), silent)
    if raised is CannotRunError:
        assert kill.name in str(found.value)
        assert "\n" not in str(found.value)


PARENT = """
import os, signal, sys, time
from harness.base.progress import silent
from harness.runs.fresh_process import in_fresh_process

def wait(progress):
    print(os.getpid(), flush=True)
    progress(1, 1, "")
    time.sleep(60)

def kill(*step):
    os.kill(os.getpid(), int(sys.argv[1]))

if __name__ == "__main__":
    # Whoever starts the tests in the background has Ctrl-C ignored, or with nohup a hang-up, and so has all that these
    # start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    in_fresh_process(wait, (), kill)
"""


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_it_ends_with_the_process_that_started_it(
    kill: signal.Signals, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    done = subprocess.run(
        [sys.executable, str(program), str(int(kill))],
        capture_output=True,
        text=True,
        env=subprocess_environment,
        check=False,
        timeout=30,  # both ends of its output are closed long before the child's sleep is over
    )
    assert done.returncode == -kill
    assert int(done.stdout) > 0


def test_an_interruption_reaches_only_the_one_that_started_it(
    tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    """Ctrl-C goes to both; the other ends without a traceback of its own."""
    program = tmp_path / "parent.py"
    program.write_text(PARENT.replace("os.kill(os.getpid()", "os.killpg(0"))
    done = subprocess.run(
        [sys.executable, str(program), str(int(signal.SIGINT))],
        capture_output=True,
        text=True,
        env=subprocess_environment,
        check=False,
        start_new_session=True,
        timeout=30,
    )
    assert done.stderr.count("KeyboardInterrupt") == 1
