"""How long the steps of a phase take, and so how long what is left of it will."""

from collections.abc import Callable

from harness.base.clock import now


class Pace:
    """Times the steps of one phase after another. Steps that follow each other are one phase; a call that is no step
    further, or has another total, begins the next."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self._first: tuple[int, float] | None = None
        self._last: tuple[int, int] | None = None

    def step(self, done: int, total: int) -> bool:
        """Note that `done` of `total` steps are done; whether that begins a phase."""
        begins = self._last is None or done <= self._last[0] or total != self._last[1]
        if begins:
            self._first = done, self._clock()
        self._last = done, total
        return begins

    def left(self) -> float | None:
        """Seconds that the rest of the phase will take if it goes on as it went; none before its first step is done."""
        if self._first is None or self._last is None:
            return None
        (began, since), (done, total) = self._first, self._last
        if done <= began or total <= done:
            return None
        return (self._clock() - since) / (done - began) * (total - done)


def told(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h`: as much as an estimate is worth."""
    if seconds < 100:
        return f"{max(1, round(seconds)):d} s" if seconds < 10 else f"{round(seconds / 10) * 10:d} s"
    return f"{round(seconds / 60):d} min" if seconds < 100 * 60 else f"{round(seconds / 3600):d} h"
