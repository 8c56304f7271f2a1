"""A progress bar on stderr when that is a terminal, and nothing otherwise."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is going on)."""


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """Show the progress of the body; the yielded function updates it."""
    if not sys.stderr.isatty():
        yield lambda done, total, text: None
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
