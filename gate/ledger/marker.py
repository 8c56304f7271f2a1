"""Markers in prose: HTML comments that tie the figure before them to a value in a report.

1.62x <!-- k3: reports/evidence/run.json sha256:0123456789ab /claims/decode_speedup~1fused/value -->
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.ledger.printed_figure import PrintedNumber, PrintedShare, printed_before

_COMMENT = re.compile(r"<!--\s*k3\b(?P<colon>\s*:)?(?P<body>.*?)(?P<end>-->|\Z)", re.DOTALL | re.IGNORECASE)
_BODY = re.compile(r"\s*(?P<path>\S+)\s+sha256:(?P<digest>[0-9a-f]{12,64})\s+(?P<pointer>/\S*)\s*\Z")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
"""A line as CommonMark ends it."""

_TICKS = re.compile("`+")
_BESIDE = 120
"""Characters before and after a marker in which prose says what the figure is."""

_FAR = 1000
"""So many are looked at: other markers may stand between."""

_COMMENTS = re.compile(r"<!--.*?(?:-->|\Z)|\A[^<]*-->", re.DOTALL)

FORM = "<!-- k3: PATH sha256:HEX /POINTER -->, HEX at least 12 digits"


@dataclass(frozen=True)
class Marker:
    """One marked figure: where it stands, what it shows, and the value it says it shows."""

    line: int
    figure: PrintedNumber | PrintedShare
    path: str
    digest: str
    pointer: str
    around: str
    """The prose beside it: what it says the figure is."""


@dataclass(frozen=True)
class BrokenMarker:
    """A comment that means to mark a figure and does not."""

    line: int
    message: str


def find_markers(text: str) -> Iterator[Marker | BrokenMarker]:
    """Every marker of a Markdown text in order; what stands in fenced code or in a code span is no comment."""
    prose = _without_code(text)
    line, counted = 1, 0
    for comment in _COMMENT.finditer(prose):
        start, end = comment.span()
        line, counted = line + prose.count("\n", counted, start), start
        before, after = text[max(0, start - _FAR) : start], text[end : end + _FAR]
        around = f"{_COMMENTS.sub('', before)[-_BESIDE:]} {_COMMENTS.sub('', after)[:_BESIDE]}"
        yield _read(comment, line, before, around)


def _read(comment: re.Match[str], line: int, before: str, around: str) -> Marker | BrokenMarker:
    body = _BODY.match(comment["body"]) if comment["colon"] and comment["end"] else None
    if body is None:
        return BrokenMarker(line, f"not of the form {FORM}")
    figure = printed_before(before)
    if figure is None:
        return BrokenMarker(line, "no figure stands directly before the marker")
    return Marker(line, figure, body["path"], body["digest"], body["pointer"], around)


def _without_code(text: str) -> str:
    """`text` with fenced code and code spans blanked out, every character left of it in its place.

    CommonMark says where a fence ends, which is also where the list around it does. What it calls code for its
    indentation alone is read: no margin hides a figure.
    """
    lines = _LINE.findall(text)
    if "```" in text or "~~~" in text:
        from markdown_it import MarkdownIt

        blocks = MarkdownIt("commonmark")
        blocks.core.ruler.enableOnly(["normalize", "block"])
        for token in blocks.parse(text):
            if token.type == "fence" and token.map is not None:
                lines[slice(*token.map)] = map(_blank, lines[slice(*token.map)])
    return "".join(_without_spans(line) if "`" in line else line for line in lines)


def _without_spans(line: str) -> str:
    """`line` with code spans blanked out: each goes from a run of backticks to the next run that is as long."""
    runs = list(_TICKS.finditer(line))
    later: dict[str, int] = {}
    ends: dict[int, int] = {}
    for run in reversed(runs):  # from behind, once: where none has an end, to look for it from each takes hours
        if run[0] in later:
            ends[run.start()] = later[run[0]]
        later[run[0]] = run.end()
    kept, at = "", 0
    for run in runs:
        if run.start() >= at and run.start() in ends:
            kept += line[at : run.start()] + _blank(line[run.start() : ends[run.start()]])
            at = ends[run.start()]
    return kept + line[at:]


def _blank(text: str) -> str:
    return "".join(char if char in "\r\n" else " " for char in text)
