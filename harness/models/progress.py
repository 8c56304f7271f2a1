"""How a fetch shows what it is doing: a bar on a terminal, plain lines elsewhere; always on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def say(line: str) -> None:
    """Print one line to stderr."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def stage(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A stage of `total` bytes; the value yielded is called with the bytes done since its last call."""
    if not sys.stderr.isatty():
        say(f"{title} ({total / 1e6:.0f} MB)")
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


def _ignore(count: int) -> None:
    """Progress that nobody sees."""
