"""Whether a text holds the answer it was asked for.

Pure functions on text. Nothing after the end of the first turn counts, an answer is a whole word, several numbered
notes copied from the haystack are an echo, several codes are a guess, and a text that collapsed into a repeat is no
answer.
"""

import re
from collections.abc import Sequence

from reports.scoring.collapse import is_degenerate
from reports.scoring.named import is_named, others_like, places

TURN_ENDS = ("<|im_end|>", "<end_of_turn>", "<turn|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "<eos>", "</s>")
"""How models mark the end of their turn or of the text, where a tool left the marks in."""

MOST_ANSWERS = 64
"""Answers to one prompt, those that were not asked for among them; no haystack holds as many needles."""

_NOTE_LINE = re.compile(r"^[^\w\n]*note[^\w\n]{0,3}\d+[^\w\n]{0,4}:.*$", re.MULTILINE)


def score(text: str, answer: str, also_asked: Sequence[str] = (), not_asked: Sequence[str] = ()) -> bool:
    """The answer and all others asked for are named in the first turn, nothing else is, and it is no collapse."""
    return why_wrong(text, answer, also_asked, not_asked) is None


def why_wrong(text: str, answer: str, also_asked: Sequence[str] = (), not_asked: Sequence[str] = ()) -> str | None:
    """What speaks against the text as an answer, in words; nothing if it is right.

    Who names what every needle of a haystack tells, or a list of codes, has not said which is the answer.
    """
    if len(also_asked) + len(not_asked) > MOST_ANSWERS:
        return f"its prompt has more than {MOST_ANSWERS} answers"
    turn = first_turn(text)
    said = _own_words(turn)
    asked = (answer, *also_asked)
    missing = next((wanted for wanted in asked if not is_named(said, wanted)), None)
    if missing is not None:
        return _missing(text, turn, missing)
    guessed = next((other for other in not_asked if is_named(said, other)), None)
    if guessed is not None:
        return f"{guessed!r}, which another needle tells, stands in its text beside {answer!r}"
    other = _another_code(said, asked)
    if other is not None:
        return f"{other!r} stands beside {answer!r} in its text; who lists several has not said which"
    if is_degenerate(turn):
        return f"the text that holds {answer!r} collapsed into a repeat"
    return None


def first_turn(text: str) -> str:
    """The text up to the first mark that ends a turn; all of it if there is none."""
    if "<" not in text:
        return text
    ends = [at for mark in TURN_ENDS if (at := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text


def _own_words(turn: str) -> str:
    """The turn, casefolded, without notes copied from the haystack. One note alone is a quotation of the answer."""
    said = turn.casefold()
    if "note" not in said:
        return said
    without, notes = _NOTE_LINE.subn("", said)
    return without if notes > 1 else said


def _another_code(said: str, asked: Sequence[str]) -> str | None:
    """A code that nobody asked for, before the first answer or in its line: what comes later is another matter."""
    known = [wanted.strip().casefold() for wanted in asked]
    for wanted in known:
        start, end = next(places(said, wanted))
        line = said.find("\n", end)
        for other, _, code in others_like(said[: line if line >= 0 else len(said)], wanted):
            if other != start and not any(is_named(code, one) for one in known):
                return code
    return None


def _missing(text: str, turn: str, answer: str) -> str:
    wanted = answer.casefold()
    if wanted in text.casefold():
        where = "denied, as an echo or as a part" if wanted in turn.casefold() else "after the end of the turn"
        return f"{answer!r} stands in its text only {where}"
    return f"{answer!r} does not stand in its text" + (", which collapsed" if is_degenerate(text) else "")
