"""Plain text for people, grouped by file; coloured only on a terminal."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from gate.judging.judged_file import WARNINGS, JudgedFile, tally
from gate.render.headline import headline_line, hint_line, reason_line, withheld_line
from reports.printing.lines import Line
from reports.printing.say import write_statements
from reports.records.verdict import Violation
from reports.untrusted.one_line import one_line

_STATE_STYLES = {"admissible": "bold green", "withheld": "bold yellow", "invalid": "bold red", "unreadable": "bold red"}


def lines(files: Sequence[JudgedFile]) -> Iterator[Line]:
    """Every statement of the listing."""
    for file in files:
        yield from file_lines(file)
    hint = hint_line(claim for file in files for claim in file.claims)
    if hint is not None:
        yield ((hint, "dim"),)
    yield ((tally(files), "bold"),)


def file_lines(file: JudgedFile) -> Iterator[Line]:
    """One file: its verdict, its machine, its violations, its headlines, and what is withheld."""
    path = one_line(file.path, 1000)
    yield (path, "bold"), (": ", ""), (file.state, _STATE_STYLES.get(file.state, "dim")), (_described(file), "dim")
    if (machine := file.busy or file.machine) is not None:
        yield ("  ", ""), (machine, "dim")
    if file.kind is not None and file.reason is not None:
        yield ("  ", ""), (one_line(file.reason, 1000), "dim")
    yield from map(violation_line, file.violations)
    yield from claim_lines(file)


def violation_line(violation: Violation) -> Line:
    """One violation: its code and what was found."""
    style = "yellow" if violation.code in WARNINGS else "red"
    return ("  ", ""), (one_line(violation.code), style), (f"  {described(violation)}", "")


def claim_lines(file: JudgedFile) -> Iterator[Line]:
    """Every headline, every claim that is withheld with the codes, and what the rules found."""
    for admitted in file.headlines:
        yield ("  ", ""), (headline_line(admitted), "green")
    for claim in file.withheld:
        yield ("  ", ""), (withheld_line(claim), "yellow")
    for reason in file.reasons:
        yield ("    ", ""), (reason_line(reason), "dim")


def described(violation: Violation) -> str:
    """The message of a violation with its place, what was found and what is allowed, where the message lacks them."""
    parts = [violation.message]
    if violation.found is not None and violation.found not in violation.message:
        parts.append(f"found {violation.found}")
    if violation.allowed is not None and violation.allowed not in violation.message:
        parts.append(f"allowed {violation.allowed}")
    place = " ".join(
        f"{name} {value}"
        for name, value in (("arm", violation.arm), ("sample", violation.sample), ("field", violation.field))
        if value is not None and str(value) not in violation.message
    )
    text = "; ".join(parts) + (f" [{place}]" if place else "")
    return one_line(text, 2000)


def write(files: Sequence[JudgedFile], stream: TextIO) -> None:
    """Print the listing to `stream`: in colour if that is a terminal and NO_COLOR is not set, else plain."""
    write_statements(lines(files), stream)


def _described(file: JudgedFile) -> str:
    if not file.opened:
        return ""
    if file.kind is None:
        return f" ({file.reason})" if file.reason is not None else ""
    version = f", schema {file.schema_version}" if file.schema_version is not None else ""
    return one_line(f" ({file.source} {file.kind}{version})")
