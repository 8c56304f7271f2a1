"""What a training tells: its progress on stderr, what an interruption leaves, the command that its manifest keeps."""

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


def command_line(arguments: list[str]) -> str:
    """The command as the manifest keeps it: folders by their last part alone."""
    words = ["k3"]
    for argument in arguments:
        flag, equals, value = argument.rpartition("=")
        words.append(f"{flag}{equals}{Path(value).name}" if "/" in value else argument)
    return " ".join(words)
