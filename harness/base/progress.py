"""How a run shows what it is doing, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.base.clock import now
from harness.base.errors import StreamError
from reports.printing.say import say

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is going on)."""

QUIET_S = 30.0
"""Seconds between two plain lines of one phase: few, as a log is read afterwards, but one that stands still is dead."""

SLOW = 2.0
"""A step that takes so many times as long as those before it did is of another sort, and nothing follows from them."""

LOOK_S = 1.0
"""Seconds between two looks at whether it was quiet for too long."""


def silent(done: int, total: int, text: str) -> None:
    """Progress that nobody sees."""


class Pace:
    """Times the steps of one phase after another. Steps that follow each other are one phase; a call that is no step
    further, or has another total, begins the next."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self._first: tuple[int, float] | None = None
        self._last: tuple[int, int] | None = None
        self._at = 0.0

    def step(self, done: int, total: int) -> bool:
        """Note that `done` of `total` steps are done; whether that begins a phase."""
        begins = self._last is None or done <= self._last[0] or total != self._last[1]
        self._at = self._clock()
        if begins:
            self._first = done, self._at
        self._last = done, total
        return begins

    def left(self) -> float | None:
        """Seconds that the rest of the phase will take if it goes on as it went; none before its first step is done, or
        where the next one shows that it does not."""
        if self._first is None or self._last is None:
            return None
        (began, since), (done, total) = self._first, self._last
        if done <= began or total <= done:
            return None
        a_step = (self._at - since) / (done - began)
        return a_step * (total - done) if self._clock() - self._at <= SLOW * a_step else None

    def outlook(self) -> str:
        """`, about 12 min left`; empty where that cannot be told yet."""
        left = self.left()
        return f", about {told(left)} left" if left is not None else ""


def told(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h`: as much as an estimate is worth."""
    if seconds < 100:
        return f"{max(1, round(seconds)):d} s" if seconds < 10 else f"{round(seconds / 10) * 10:d} s"
    return f"{round(seconds / 60):d} min" if seconds < 100 * 60 else f"{round(seconds / 3600):d} h"


class PlainLines:
    """Says what is going on in plain lines: at once where a phase begins, else when it has been quiet for a while."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self._start = clock()
        self._said: float | None = None
        self._step: tuple[int, int, str] | None = None
        self._pace = Pace(clock)
        self._lock = threading.RLock()

    def __call__(self, done: int, total: int, text: str) -> None:
        """As `Progress`; a phase begins as `Pace` has it."""
        with self._lock:
            self._step = done, total, text
            if self._pace.step(done, total) or done >= total or self._due():
                self._say_step()

    def beat(self) -> None:
        """Say again what is going on if it has been quiet for a while: one step may take minutes."""
        with self._lock:
            if self._step is not None and self._due():
                self._say_step()

    def amount(self, text: str) -> None:
        """Say `text` if it has been quiet for a while."""
        with self._lock:
            if self._due():
                self.say(text)

    def say(self, line: str) -> None:
        """Print a line now."""
        with self._lock:
            self._said = self._clock()
            print(line, file=sys.stderr, flush=True)

    def _say_step(self) -> None:
        assert self._step is not None
        done, total, text = self._step
        self.say(f"[{done}/{total}] {text} ({self._clock() - self._start:.0f} s{self._pace.outlook()})")

    def _due(self) -> bool:
        return self._said is None or self._clock() - self._said >= QUIET_S


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """Show the progress of the body; the yielded function updates it."""
    if not sys.stderr.isatty():
        lines = PlainLines()
        with beside(lines.beat, LOOK_S):
            yield lines
        return
    from rich.progress import MofNCompleteColumn, TimeElapsedColumn

    from harness.base.terminal_bar import WHOLE, TerminalBar

    pace = Pace()
    say(title, sys.stderr)
    with TerminalBar(MofNCompleteColumn(table_column=WHOLE), TimeElapsedColumn(table_column=WHOLE)) as shown:
        task = shown.add_task("", total=None)

        def update(done: int, total: int, text: str) -> None:
            pace.step(done, total)
            shown.update(task, completed=done, total=total, description=f"{text}{pace.outlook()}")

        yield update


@contextmanager
def beside(speak: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call `speak` every so many seconds from beside the body, which may compute for minutes without a step."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every_s):
            try:
                speak()
            except StreamError:
                return  # the body meets it at its own next line, and ends the command

    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
