"""How wide the place is where something is read, and how wide a text is there."""

import os
from typing import TextIO

PIPE_COLUMNS = 80
"""Columns of a table where the output has no width of its own: what every log viewer shows."""

FEWEST_COLUMNS = 40
"""Columns that are taken to be there, whatever a terminal says."""


def columns_of(stream: TextIO) -> int | None:
    """How wide `stream` is read: what `COLUMNS` says, else the terminal; none where there is neither."""
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdecimal() and 0 < int(said) < 10_000:
        return max(int(said), FEWEST_COLUMNS)
    if not stream.isatty():
        return None
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, FEWEST_COLUMNS)
    except (OSError, ValueError):
        return None


def width_of(text: str) -> int:
    """Columns that a terminal gives to `text`."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
