"""Lines of styled text: broken between words where they are too wide, and printed."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from reports.printing.width import width_of

Span = tuple[str, str]
"""Text without control codes, and the style it has on a terminal (empty: none)."""

Line = tuple[Span, ...]

_WORD = re.compile(r"\S+")
_ATOM = re.compile(r"[^\s`]*`[^`]*`\S*|\S+")
"""A word, or a command between backticks with what touches it: whoever copies it wants it in one piece."""


def write_lines(lines: Iterable[Line], stream: TextIO) -> None:
    """Print styled lines as they are; every span must already be free of control codes."""
    in_colour = stream.isatty() and not os.environ.get("NO_COLOR")
    for spans in lines:
        if in_colour and any(style for _, style in spans):
            _write_styled(spans, stream)
        else:
            stream.write("".join(text for text, _ in spans) + "\n")


def _write_styled(spans: Line, stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.print(Text.assemble(*spans), soft_wrap=True)


def folded(line: Line, width: int | None, hang: int | None = None) -> Iterator[Line]:
    """The line in lines of at most `width` columns, broken between words; a longer word stands on one of its own."""
    text = "".join(span for span, _ in line)
    if width is None or width_of(text) <= width:
        yield line
        return
    indent = min(hang if hang is not None else len(text) - len(text.lstrip()) + 2, width // 2)
    start = end = 0
    for begin, stop in _words(text, width - indent):
        if end > start and width_of(text[start:stop]) > width - (indent if start else 0):
            yield _part(line, start, end, indent)
            start = begin
        end = stop
    yield _part(line, start, end, indent)


def _words(text: str, room: int) -> Iterator[tuple[int, int]]:
    """Where each word begins and ends. A command is one if there is room for it."""
    for atom in _ATOM.finditer(text):
        if width_of(atom[0]) <= room:
            yield atom.span()
        else:
            yield from (word.span() for word in _WORD.finditer(text, *atom.span()))


def _part(line: Line, start: int, end: int, indent: int) -> Line:
    """The spans of `line` between two places of its text, indented unless they are its beginning."""
    part: list[Span] = [(" " * indent, "")] if start else []
    at = 0
    for text, style in line:
        if kept := text[max(0, start - at) : max(0, end - at)]:
            part.append((kept, style))
        at += len(text)
    return tuple(part)
