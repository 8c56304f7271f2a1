"""Where a text names an answer: as a whole word, in any case, with any hyphens, white space and Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence

LONGEST_ANSWER = 200
"""Characters; a longer one is found nowhere: a hostile one would take hours. Prompts of one's own take 100."""

HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Hyphens, dashes and the minus sign: models write codes with any of them."""

_JOINERS = "-_\u2010\u2011"
"""Of those, what joins two words into one; a dash parts them, and an underscore at the edge is emphasis."""

_NOT = re.compile(r"(?:\bnot|n['\u2019]t|\bnever|\bneither|\bnor)(?: (?:the|a|secret|code|number|answer|be))*\W{1,4}$")
_NEAR = 40
_PART = re.compile(rf"[{HYPHENS}]|\s+|[^\W\d_]+|\d+|.", re.DOTALL)


def is_named(said: str, answer: str) -> bool:
    """`answer` stands somewhere in `said`, a text that is casefolded, and is not denied there ("it is not BETA-1409").

    One that is cut short, or only a piece of a longer word, code or number, does not stand there. An empty answer, or
    one longer than `LONGEST_ANSWER`, stands nowhere.
    """
    return next(places(said, answer), None) is not None


def places(said: str, answer: str) -> Iterator[tuple[int, int]]:
    """Where `answer` begins and ends in `said`, each time that it stands there."""
    wanted = answer.strip().casefold()
    if not wanted or len(wanted) > LONGEST_ANSWER:
        return
    parts = _PART.findall(wanted)
    # Most texts lack the answer, and lack its longest part that is spelt in one way alone.
    alone = (part for part in parts if part not in HYPHENS and not part.isspace())
    if max(alone, key=len, default="") in said:
        yield from _whole(said, _spans(said, parts))


def others_like(said: str, answer: str) -> Iterator[tuple[int, int, str]]:
    """Other codes of the shape of `answer` in `said`, with their places: as many letters and digits between the same
    marks. Words and plain numbers have no shape by which they could be told from the rest of a text."""
    wanted = answer.strip().casefold()
    parts = _PART.findall(wanted) if len(wanted) <= LONGEST_ANSWER else []
    if not (any(part.isdigit() for part in parts) and any(part.isalpha() for part in parts)):
        return
    shape = re.compile(r"(?<![^\W_])" + "".join(map(_shape, parts)))
    for start, end in _whole(said, (found.span() for found in shape.finditer(_plain(said)))):
        code = said[start:end]
        if (0, len(code)) not in _spans(code, parts):
            yield start, end, code


def _spans(said: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where these parts of an answer stand in `said` one after another. Each answer is another one, and to compile a
    pattern takes longer than to judge what was found: it is done where the answer may be spelt in several ways."""
    plain = _plain(said)
    if "\\" in said or any(part.isspace() for part in parts):
        yield from (found.span() for found in re.finditer("".join(map(_spelt, parts)), plain))
        return
    wanted, end = _plain("".join(parts)), 0
    while (start := plain.find(wanted, end)) >= 0:
        end = start + len(wanted)
        yield start, end


def _whole(said: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        if _is_whole(said, start, end) and not _NOT.search(said, max(0, start - _NEAR), start):
            yield start, end


def _plain(said: str) -> str:
    """`said` with one kind of hyphen, a character for a character: to compile a class of them all, anew for every
    answer, takes longer than to look for it."""
    for hyphen in HYPHENS[1:]:
        said = said.replace(hyphen, "-")
    return said


def _spelt(part: str) -> str:
    """A pattern for a part of an answer, in a text that is `_plain`."""
    if part in HYPHENS:
        return r"\\?-"
    return r"\s+" if part.isspace() else re.escape(part)


def _shape(part: str) -> str:
    if part.isdigit():
        return rf"\d{{{len(part)}}}"
    return r"[^\W\d_]+" if part.isalpha() else _spelt(part)


def _is_whole(said: str, start: int, end: int) -> bool:
    """`said[start:end]` is no part of a longer word, of one joined by a hyphen, or of a longer number."""
    before, after = said[max(0, start - 2) : start], said[end : end + 2]
    if before and (before[-1].isalnum() or (before[-1] in _JOINERS and len(before) == 2 and before[0].isalnum())):
        return False
    if not after:
        return True
    number = after[0] in ".," and after[1:].isdigit()
    return not (after[0].isalnum() or number or (after[0] in _JOINERS and after[1:].isalnum()))
