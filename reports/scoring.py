"""Whether a text holds the answer it was asked for: what the workload scores with and the gate scores again with.

Pure functions on text. Nothing after the end of the first turn counts, an answer is a whole word, a line copied from
the numbered notes of the haystack is an echo, and a text that collapsed into a repeat is no answer.
"""

import re
from collections.abc import Sequence

TURN_ENDS = ("<|im_end|>", "<end_of_turn>", "<turn|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "<eos>", "</s>")
"""How models mark the end of their turn or of the text, where a tool left the marks in."""

DEGENERATE_LINES = 8
"""This many short equal lines are a collapse: in a row, or making up half of a text."""

DEGENERATE_LINE_LENGTH = 40
"""Characters up to which a line is short."""

DEGENERATE_UNIT = 8
"""Longest unit, in characters, whose repetition at the tail is looked for."""

DEGENERATE_REPEATS = 8
"""Repetitions of the unit at the tail that are a collapse."""

_NOTE_LINE = re.compile(r"^\W*note\W{0,3}\d+\s*:.*$", re.MULTILINE)


def first_turn(text: str) -> str:
    """The text up to the first mark that ends a turn; all of it if there is none."""
    if "<" not in text:
        return text
    ends = [at for mark in TURN_ENDS if (at := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text


def find_answer(text: str, answer: str) -> bool:
    """`answer` stands in the first turn of `text` as a whole word, in any case, outside lines copied from the notes.

    An answer at the very end counts; one that is cut short, or only the beginning of a longer word, code or number,
    does not. An empty answer is found nowhere.
    """
    wanted = answer.strip().casefold()
    said = first_turn(text).casefold()
    if not wanted or wanted not in said:
        return False
    if "note" in said:
        said = _NOTE_LINE.sub("", said)
    at = said.find(wanted)
    while at >= 0:
        if _is_whole(said, at, at + len(wanted)):
            return True
        at = said.find(wanted, at + 1)
    return False


def is_degenerate(text: str) -> bool:
    """`text` collapsed: short equal lines over and over, or a unit of a few characters repeated at its tail.

    White space at the end is not a unit (code that is cut inside an indentation is no collapse); blank lines in a
    row are equal lines.
    """
    return _repeats_lines(text) or _repeats_tail(text) or _repeats_tail(text.rstrip())


def score(text: str, answer: str, also_asked: Sequence[str] = (), not_asked: Sequence[str] = ()) -> bool:
    """The answer and all others asked for stand in the first turn, none that was not asked for, and it is no collapse.

    Who names what every needle of a haystack tells has not said which is the answer.
    """
    turn = first_turn(text)
    found = all(find_answer(turn, wanted) for wanted in (answer, *also_asked))
    guessed = any(find_answer(turn, other) for other in not_asked)
    return found and not guessed and not is_degenerate(turn)


def _is_whole(text: str, start: int, end: int) -> bool:
    """`text[start:end]` is no part of a longer word, of one joined by a hyphen, or of a longer number."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (_in_word(before[-1]) or (before[-1] == "-" and len(before) == 2 and _in_word(before[0]))):
        return False
    if not after:
        return True
    joined = len(after) == 2 and ((after[0] == "-" and _in_word(after[1])) or (after[0] in ".," and after[1].isdigit()))
    return not (_in_word(after[0]) or joined)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


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
