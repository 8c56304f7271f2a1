"""How a run shows what it is doing, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.base.clock import now

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is going on)."""

QUIET_S = 30.0
"""Seconds between two plain lines of one phase, at least: a log is read afterwards."""


def silent(done: int, total: int, text: str) -> None:
    """Progress that nobody sees."""


class PlainLines:
    """Says what is going on in plain lines: at once where a phase begins, else when it has been quiet for a while."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self._start = clock()
        self._said: float | None = None
        self._done: int | None = None

    def __call__(self, done: int, total: int, text: str) -> None:
        """As `Progress`. Steps that follow each other are one phase; a call that is no step further begins another."""
        begins = self._done is None or done <= self._done or done >= total
        self._done = done
        if begins or self._due():
            self.say(f"[{done}/{total}] {text} ({self._clock() - self._start:.0f} s)")

    def amount(self, text: str) -> None:
        """Say `text` if it has been quiet for a while."""
        if self._due():
            self.say(text)

    def say(self, line: str) -> None:
        """Print a line now."""
        self._said = self._clock()
        print(line, file=sys.stderr, flush=True)

    def _due(self) -> bool:
        return self._said is None or self._clock() - self._said >= QUIET_S


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """Show the progress of the body; the yielded function updates it."""
    if not sys.stderr.isatty():
        yield PlainLines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    console = Console(stderr=True)
    console.print(title, markup=False, highlight=False)
    with RichProgress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=None)

        def update(done: int, total: int, text: str) -> None:
            shown.update(task, completed=done, total=total, description=text)

        yield update
