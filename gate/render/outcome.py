"""What a run comes to, for people: what may be said, what may not and why, and the codes for those who want them."""

import shlex
from collections.abc import Iterator

from gate.judging.judged_file import WARNINGS, JudgedFile
from gate.render.sentences import sentences
from gate.render.text import violation_line
from gate.render.withheld import withheld
from reports.printing.lines import Line
from reports.untrusted.one_line import one_line


def outcome_lines(file: JudgedFile, *, listed: bool = False) -> Iterator[Line]:
    """The outcome of one file, a statement each. `listed` says that every claim with its rules follows: nobody is then
    sent elsewhere for them."""
    for sentence in sentences(file) or (nothing_said(file),):
        yield ((sentence, "bold"),)
    for violation in file.as_own.violations:
        yield violation_line(violation)
    for group in withheld(file):
        yield ((f"WITHHELD: {group.what}.", "yellow"),)
        yield ((f"  Why: {group.why}.", ""),)
        yield ((f"  Change first: {group.change}", ""),)
        if group.others:
            yield ((f"  {_more(len(group.others), None if listed else file.path)}.", "dim"),)


def _more(count: int, path: str | None) -> str:
    """How many other rules stand in the way, and where they are listed: by a command, without `path` further below."""
    stand, them = ("rule stands", "it") if count == 1 else ("rules stand", "them")
    if path is None:
        return f"{count} more {stand} in the way; the list of claims below names {them}"
    return f"{count} more {stand} in the way; `k3 report show -v {one_line(shlex.quote(path), 1000)}` lists {them}"


def verdict_words(file: JudgedFile) -> str:
    """The verdict, and where evidence that holds carries no sentence, that it is so."""
    silent = file.verdict == "admissible" and not sentences(file)
    return f"{file.state} (its evidence holds, and nothing of it may be quoted)" if silent else file.state


def nothing_said(file: JudgedFile) -> str:
    """Why no sentence of the report may be quoted: one thing a verdict, in the words of `k3 gate explain`."""
    nothing = "Nothing may be quoted from this report"
    own = file.as_own
    if own.verdict == "invalid":
        return f"{nothing}: its evidence is broken."
    if own.verdict == "legacy":
        return f"{nothing}: its form is too old to be judged."
    if any(violation.code not in WARNINGS for violation in own.violations):
        return f"{nothing} until the rules that it breaks are satisfied."
    if file.withheld:
        return f"{nothing} yet."
    return "This report makes no claim that may be quoted."
