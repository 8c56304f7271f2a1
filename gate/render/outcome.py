"""What a run comes to, for people: what may be said, what may not and why, and the codes for those who want them."""

import shlex
import textwrap
from collections.abc import Iterator

from gate.judging.judged_file import WARNINGS, JudgedFile
from gate.render.sentences import sentences
from gate.render.text import Span, violation_line
from gate.render.withheld import withheld
from reports.untrusted.one_line import one_line

Line = tuple[Span, ...]


def outcome_lines(file: JudgedFile, width: int | None) -> Iterator[Line]:
    """The outcome of one file; prose is broken between words at `width`, and not at all where that is none."""
    said = sentences(file)
    for sentence in said:
        yield from _wrapped(sentence, width, "bold")
    if not said:
        yield from _wrapped(_nothing(file), width, "bold")
    for violation in file.as_own.violations:
        yield violation_line(violation)
    for group in withheld(file):
        yield from _wrapped(f"WITHHELD: {group.what}.", width, "yellow", "  ")
        yield from _wrapped(f"  Why: {group.why}.", width, "", "    ")
        yield from _wrapped(f"  Change first: {group.change}", width, "", "    ")
        if group.others:
            count = len(group.others)
            stand, them = ("rule stands", "it") if count == 1 else ("rules stand", "them")
            listing = f"`k3 report show -v {one_line(shlex.quote(file.path), 1000)}` lists {them}"
            yield from _wrapped(f"  {count} more {stand} in the way; {listing}.", width, "dim", "    ")


def verdict_words(file: JudgedFile) -> str:
    """The verdict, and where evidence that holds carries no sentence, that it is so."""
    silent = file.verdict == "admissible" and not sentences(file)
    return f"{file.state} (its evidence holds, and nothing of it may be quoted)" if silent else file.state


def _nothing(file: JudgedFile) -> str:
    if any(violation.code not in WARNINGS for violation in file.as_own.violations):
        return "Nothing may be quoted from this report: it breaks the rules below."
    if file.withheld:
        return "Nothing may be quoted from this report yet."
    return "This report makes no claim that may be quoted."


def _wrapped(text: str, width: int | None, style: str, indent: str = "  ") -> Iterator[Line]:
    if width is None:
        yield ((text, style),)
        return
    start = text[: len(text) - len(text.lstrip())]
    for line in textwrap.wrap(
        text.lstrip(),
        width,
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield ((line, style),)
