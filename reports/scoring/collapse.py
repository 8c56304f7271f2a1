"""Texts that collapsed into a repeat: no answer, whatever stands in them."""

DEGENERATE_LINES = 8
"""This many short equal lines are a collapse: in a row, or making up half of a text."""

DEGENERATE_LINE_LENGTH = 40
"""Characters up to which a line is short."""

DEGENERATE_UNIT = 8
"""Longest unit, in characters, whose repetition at the tail is looked for."""

DEGENERATE_REPEATS = 8
"""Repetitions of the unit at the tail that are a collapse."""


def is_degenerate(text: str) -> bool:
    """`text` collapsed: short equal lines over and over, or a unit of a few characters repeated at its tail.

    White space at the end is not a unit (code that is cut inside an indentation is no collapse); blank lines in a
    row are equal lines.
    """
    return _repeats_lines(text) or _repeats_tail(text) or _repeats_tail(text.rstrip())


def _repeats_lines(text: str) -> bool:
    lines = [line.strip() for line in text.split("\n")]
    run = 0
    counts: dict[str, int] = {}
    for index, line in enumerate(lines):
        if len(line) > DEGENERATE_LINE_LENGTH:
            run = 0
            continue
        run = run + 1 if run and line == lines[index - 1] else 1
        if run >= DEGENERATE_LINES:
            return True
        if line:
            counts[line] = counts.get(line, 0) + 1
    most = max(counts.values(), default=0)
    return most >= DEGENERATE_LINES and 2 * most >= sum(1 for line in lines if line)


def _repeats_tail(text: str) -> bool:
    """The last `DEGENERATE_REPEATS * unit` characters have the period `unit`, for some unit."""
    for unit in range(1, DEGENERATE_UNIT + 1):
        span = unit * DEGENERATE_REPEATS
        if len(text) >= span and text[-span:-unit] == text[unit - span :] and text[-unit:].strip():
            return True
    return False
