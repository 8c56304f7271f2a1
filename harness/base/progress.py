"""How a run shows what it is doing, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.base.clock import now
from harness.base.errors import StreamError
from harness.base.pace import Pace, told

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is going on)."""

QUIET_S = 30.0
"""Seconds between two plain lines of one phase: few, as a log is read afterwards, but one that stands still is dead."""

LOOK_S = 1.0
"""Seconds between two looks at whether it was quiet for too long."""


def silent(done: int, total: int, text: str) -> None:
    """Progress that nobody sees."""


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
        left = self._pace.left()
        more = f", about {told(left)} left" if left is not None else ""
        self.say(f"[{done}/{total}] {text} ({self._clock() - self._start:.0f} s{more})")

    def _due(self) -> bool:
        return self._said is None or self._clock() - self._said >= QUIET_S


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """Show the progress of the body; the yielded function updates it."""
    if not sys.stderr.isatty():
        print(title, file=sys.stderr, flush=True)
        with _beating(PlainLines()) as lines:
            yield lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    text = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), text)
    console, pace = Console(stderr=True), Pace()
    console.print(title, markup=False, highlight=False)
    with RichProgress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=None)

        def update(done: int, total: int, text: str) -> None:
            pace.step(done, total)
            left = pace.left()
            more = f", about {told(left)} left" if left is not None else ""
            shown.update(task, completed=done, total=total, description=f"{text}{more}")

        yield update


@contextmanager
def _beating(lines: PlainLines) -> Iterator[PlainLines]:
    """Let `lines` speak from beside the body, which may compute for minutes without a step."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(LOOK_S):
            try:
                lines.beat()
            except StreamError:
                return  # the body meets it at its own next line, and ends the command

    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        ended.set()
        thread.join()
