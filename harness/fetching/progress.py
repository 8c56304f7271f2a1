"""How a fetch shows what it is doing: a bar on a terminal, plain lines elsewhere; always on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.base.progress import PlainLines
from reports.printing.say import say


def tell(line: str) -> None:
    """Print one statement to stderr."""
    say(line, sys.stderr)


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
    from rich.progress import DownloadColumn, TimeRemainingColumn

    from harness.base.terminal_bar import WHOLE, TerminalBar

    with TerminalBar(DownloadColumn(table_column=WHOLE), TimeRemainingColumn(table_column=WHOLE)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)
