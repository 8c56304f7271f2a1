"""GitHub Actions: workflow commands that annotate files, and a Markdown summary of the step."""

from collections.abc import Iterator, Sequence

from gate.judging.judged_file import WARNINGS, JudgedFile, tally
from gate.render.headline import headline_line, reason_line, withheld_line
from gate.render.markdown import markdown_text
from gate.render.text import described
from reports.untrusted.one_line import one_line

SUMMARY_LIMIT = 1_000_000
"""Bytes; GitHub refuses a step summary of more than 1 MiB."""


def annotations(files: Sequence[JudgedFile]) -> str:
    """One workflow command a violation, as GitHub reads them from the output of a step."""
    return "".join(line + "\n" for file in files for line in _commands(file))


def _commands(file: JudgedFile) -> Iterator[str]:
    for violation in file.violations:
        level = "warning" if violation.code in WARNINGS else "error"
        place = f"file={_property(file.path)},title={_property(violation.code)}"
        yield f"::{level} {place}::{_data(described(violation))}"


def _data(text: str) -> str:
    return one_line(text, 2000).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(files: Sequence[JudgedFile]) -> str:
    """The step summary: a table of files, then each violation, headline and withheld claim; cut before the limit."""
    kept, size = [], 0
    for number, line in enumerate(_summary_lines(files)):
        size += len(line.encode()) + 1
        if size > SUMMARY_LIMIT - 200:
            kept.append(f"\n{number} lines are shown; the rest did not fit.")
            break
        kept.append(line)
    return "\n".join(kept) + "\n"


def _summary_lines(files: Sequence[JudgedFile]) -> Iterator[str]:
    yield "## k3 gate check"
    yield ""
    yield markdown_text(tally(files))
    if not files:
        return
    yield ""
    yield "| file | verdict | violations | headlines | withheld |"
    yield "| --- | --- | --- | --- | --- |"
    for file in files:
        counts = (len(file.violations), len(file.headlines), len(file.withheld))
        yield f"| {markdown_text(file.path)} | {file.state} | {' | '.join(map(str, counts))} |"
    for file in files:
        details = list(_details(file))
        if details:
            yield from ("", f"### {markdown_text(file.path)}", "", *details)


def _details(file: JudgedFile) -> Iterator[str]:
    for violation in file.violations:
        yield f"- **{markdown_text(violation.code)}** {markdown_text(described(violation))}"
    for admitted in file.headlines:
        yield f"- {markdown_text(headline_line(admitted))}"
    for claim in file.withheld:
        yield f"- {markdown_text(withheld_line(claim))}"
    for reason in file.reasons:
        yield f"  - {markdown_text(reason_line(reason))}"
