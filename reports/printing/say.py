"""Lines fitted to where they are read: one rule for all that K3 prints for people.

On a terminal no line is wider than it. Through a pipe, tables and pages of prose are `PIPE_COLUMNS` wide, and what says
one thing (a sentence, a finding, an error, an entry of a list) is one line, since people search for it. Nothing is
broken inside a word: a path or a digest stays whole, so that it can be copied.
"""

import sys
from collections.abc import Iterable
from typing import TextIO

from reports.printing.lines import Line, folded, write_lines
from reports.printing.width import PIPE_COLUMNS, columns_of
from reports.untrusted.one_line import LONGEST_SHOWN, one_line


def say(text: str, stream: TextIO | None = None, *, hang: int | None = None, page: bool = False) -> None:
    """Print one statement, to stdout unless told otherwise, with all that is unprintable in it escaped.

    On a terminal it goes on below after `hang` spaces, by default two more than it begins with. With `page` it is part
    of a page of prose, which is folded in a pipe, too.
    """
    to = sys.stdout if stream is None else stream
    write_statements([((one_line(text, LONGEST_SHOWN), ""),)], to, hang=hang, page=page)
    to.flush()


def write_statements(lines: Iterable[Line], stream: TextIO, *, hang: int | None = None, page: bool = False) -> None:
    """Print styled statements, folded as `say` has it."""
    width = columns_of(stream) or (PIPE_COLUMNS if page else None)
    write_lines((part for line in lines for part in folded(line, width, hang)), stream)
