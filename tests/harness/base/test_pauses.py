"""Pauses in a measurement: told by clocks and by the system, and measured again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.base.clock import asleep
from harness.base.errors import CannotRunError
from harness.base.pauses import MOST, PauseWatch, watching
from reports.records.constants import LEAST_PAUSE_S
from reports.records.measurement import Pause

Kept = list[tuple[str, Pause | None]]


def test_the_clocks_of_this_machine_agree_while_it_is_awake() -> None:
    before = asleep()
    assert 0 <= asleep() - before < LEAST_PAUSE_S


def test_without_a_pause_once_is_enough() -> None:
    kept: Kept = []
    with watching() as watch:
        watch.measure(lambda: "row", lambda row, pause: kept.append((row, pause)), lambda: pytest.fail("again"))
    assert kept == [("row", None)]


def test_a_row_in_which_the_machine_slept_is_measured_again_and_kept() -> None:
    """A clock in place of the machine's: it has slept 30 s when the first row is done."""
    slept: Iterator[float] = iter([100.0, 100.0, 130.0, 130.0, 130.0])
    kept: Kept = []
    rows = iter(["first", "second"])
    again: list[str] = []
    watch = PauseWatch(lambda: next(slept))
    watch.measure(lambda: next(rows), lambda row, pause: kept.append((row, pause)), lambda: again.append("warm"))
    assert kept == [("first", Pause(asleep_s=30.0, stops=0)), ("second", None)]
    assert again == ["warm"]


def test_less_than_any_sleep_is_none() -> None:
    slept = iter([5.0, 5.0, 5.0 + LEAST_PAUSE_S / 2])
    kept: Kept = []
    PauseWatch(lambda: next(slept)).measure(lambda: "row", lambda row, pause: kept.append((row, pause)))
    assert kept == [("row", None)]


STOPPED = """
import os, signal
from harness.base.pauses import watching

work = iter([lambda: os.kill(os.getpid(), signal.SIGSTOP), lambda: None])
with watching() as watch:
    os.kill(os.getpid(), signal.SIGCONT)  # between two rows: of no interest
    watch.measure(lambda: next(work)(), lambda _, pause: print(pause.stops if pause else 0, flush=True))
"""


def test_a_row_in_which_the_process_was_stopped_is_measured_again(subprocess_environment: dict[str, str]) -> None:
    """A real stop, which lasts until this process sees that it happened."""
    child = subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, env=subprocess_environment)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    child.send_signal(signal.SIGCONT)
    assert child.communicate()[0] == b"1\n0\n"
    assert child.returncode == 0


def test_a_machine_that_never_stays_awake_is_told() -> None:
    kept: Kept = []
    slept = iter(range(0, 1000, 10))
    watch = PauseWatch(lambda: float(next(slept)))
    with pytest.raises(CannotRunError, match=r"the machine slept.*run the same command again") as caught:
        watch.measure(lambda: "row", lambda row, pause: kept.append((row, pause)))
    assert len(kept) == MOST
    assert "\n" not in str(caught.value)


def test_the_handler_of_before_is_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGCONT)
    with pytest.raises(RuntimeError), watching():
        raise RuntimeError
    assert signal.getsignal(signal.SIGCONT) is before
