"""Tables as text, fitted to where they are read: figures align, and nothing is broken inside a word.

A table too wide for the place stands there in parts, one below the other, each beginning with the first column.
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from reports.printing.lines import Line, write_lines
from reports.printing.width import FEWEST_COLUMNS, PIPE_COLUMNS, columns_of, width_of
from reports.untrusted.one_line import LONGEST_SHOWN, one_line

GAP = "  "


def write_table(columns: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO, *, words: int) -> None:
    """Print a table whose first `words` columns are left-aligned, and whose others are figures. Empty columns are left
    out."""
    cells = [[one_line(cell, LONGEST_SHOWN) for cell in row] for row in rows]
    write_lines(table_lines(columns, cells, columns_of(stream) or PIPE_COLUMNS, words=words), stream)


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, words: int) -> Iterator[Line]:
    """The lines of a table that is `width` columns wide, and an empty one behind each part of it."""
    used = [number for number in range(len(columns)) if number == 0 or any(row[number] for row in rows)]
    natural = {n: max(width_of(columns[n]), *(width_of(row[n]) for row in rows), 0) for n in used}
    for part in _even_parts(used, natural, width):
        taken = sum(natural[n] + len(GAP) for n in part[:-1])
        widths = {n: natural[n] for n in part[:-1]} | {part[-1]: max(1, min(natural[part[-1]], width - taken))}
        if any(columns):
            yield ((_joined([[columns[n]] for n in part], part, widths, words)[0], "bold"),)
        for row in rows:
            cells = [_wrapped(row[n], widths[n]) if n < words else [row[n]] for n in part]
            yield from (((line, ""),) for line in _joined(cells, part, widths, words))
        yield ((("", "")),)


def _even_parts(used: Sequence[int], natural: dict[int, int], width: int) -> list[list[int]]:
    """As few parts as the width allows, none of them wider than it must be for that."""
    fewest = list(_parts(used, natural, width))
    for narrower in range(FEWEST_COLUMNS, width):
        parts = list(_parts(used, natural, narrower))
        if len(parts) == len(fewest):
            return parts
    return fewest


def _parts(used: Sequence[int], natural: dict[int, int], width: int) -> Iterator[list[int]]:
    """Numbers of the columns of each part. The first column stands in all; one too wide beside it is the last there."""
    first, *others = used
    part = [first]
    for number in others:
        if len(part) > 1 and sum(natural[n] + len(GAP) for n in part) + natural[number] > width:
            yield part
            part = [first]
        part.append(number)
    yield part


def _joined(cells: Sequence[list[str]], part: Sequence[int], widths: dict[int, int], words: int) -> list[str]:
    """The lines of one row, whose cells have a line or several each."""
    lines = []
    for at in range(max(map(len, cells))):
        shown = [cell[at] if at < len(cell) else "" for cell in cells]
        padded = (_padded(text, widths[n], right=n >= words) for text, n in zip(shown, part, strict=True))
        lines.append(GAP.join(padded).rstrip())
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width`, broken between words; a longer word stands on a line of its own, whole."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * max(0, width - width_of(text))
    return space + text if right else text + space
