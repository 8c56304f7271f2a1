"""The end of a log, however long the log is."""

from pathlib import Path

LINE_BYTES = 2**16
"""A last line is looked for in so many bytes."""


def end_of(log: Path, most: int) -> str:
    """The last `most` bytes as text; empty if the log cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - most))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def last_line(log: Path) -> str | None:
    """The last line that is not blank, if there is one."""
    lines = reversed(end_of(log, LINE_BYTES).splitlines())
    return next((line for line in lines if line.strip()), None)
