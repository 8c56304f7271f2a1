"""What a training tells: its progress on stderr, and what an interruption leaves."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import Interrupted
from reports.printing.say import say


@contextmanager
def kept(out: Path) -> Iterator[None]:
    """Say, where training is interrupted, that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        kept_so_far = f"what was made for {out} so far is kept, and the same command goes on from there"
        raise Interrupted(kept_so_far) from None


def print_line(text: str) -> None:
    """Progress on stderr, a line an event, so that a log of it can be read."""
    say(text, sys.stderr)
