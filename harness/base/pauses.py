"""Pauses in a timed run: a closed lid, a suspended machine, a process that was stopped.

Two things can be told honestly. That the machine slept: a clock that counts sleep is ahead of one that does not. That
the process was stopped (Ctrl-Z, a debugger, `kill -STOP`): it is sent SIGCONT when it goes on. For how long it was
stopped nobody tells it. A container that is frozen, or a virtual machine whose host pauses it, tells nothing either:
such a row is only slow.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from harness.base.clock import asleep
from harness.base.errors import CannotRunError
from reports.records.measurement import Pause

MOST = 5
"""Pauses in one row after which it is given up."""
T = TypeVar("T")


class PauseWatch:
    """Tells of the pauses that fall into a measurement."""

    def __init__(self, slept: Callable[[], float] = asleep) -> None:
        self._slept = slept
        self._before = slept()
        self._stops = 0

    def went_on(self, signum: int, frame: FrameType | None) -> None:
        """The process goes on after a stop: the handler of SIGCONT."""
        self._stops += 1

    def measure(
        self, once: Callable[[], T], keep: Callable[[T, Pause | None], None], again: Callable[[], object] = lambda: None
    ) -> None:
        """Call `once` until no pause falls into it. `keep` is given everything that was measured, and its pause; after
        one, `again` comes first.

        Raises:
            CannotRunError: pauses fell into `MOST` calls in a row.
        """
        for _ in range(MOST):
            self._before, self._stops = self._slept(), 0
            measured = once()
            pause = self._pause()
            keep(measured, pause)
            if pause is None:
                return
            again()
        raise CannotRunError(
            f"{MOST} times in a row the machine slept, or the process was stopped, while one row was measured; keep "
            "both awake, and run the same command again: it goes on from there"
        )

    def _pause(self) -> Pause | None:
        found = Pause(asleep_s=max(0.0, self._slept() - self._before), stops=self._stops)
        return found if found.broke else None


@contextmanager
def watching() -> Iterator[PauseWatch]:
    """Watch for pauses while the body runs, which must be in the main thread: only there are signals handled."""
    watch = PauseWatch()
    before = signal.signal(signal.SIGCONT, watch.went_on)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGCONT, before)
