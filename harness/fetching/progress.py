"""How a fetch shows what it is doing: a bar on a terminal, plain lines elsewhere; always on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.base.progress import PlainLines


def say(line: str) -> None:
    """Print one line to stderr."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def stage(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A stage of `total` bytes; the value yielded is called with the bytes done since its last call."""
    if not sys.stderr.isatty():
        lines = PlainLines()
        lines.say(f"{title} ({total / 1e6:.0f} MB)")
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            lines.amount(f"{title}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

        yield count
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)
