"""The claim ledger: every marked figure in prose, checked against the report it names."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gate.claims.recompute import counted
from gate.ledger.citations import Citations, Cited, Problem, StaleError
from gate.ledger.marker import BrokenMarker, Marker, find_markers
from gate.ledger.pointer import DanglingError, resolve, steps
from gate.ledger.printed_figure import RATIO_UNITS, SHARE_UNITS, PrintedNumber, PrintedShare
from gate.rulebook.report_view import ReportView
from reports.records.claims import BaseClaim, Claim
from reports.report import Report
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.one_line import one_line

PROSE_SUFFIXES = (".md", ".markdown")
LONGEST_PROSE = 4 * 2**20
"""Bytes; a parser of Markdown takes some ten seconds a MiB where every line is a list of its own."""

MOST_MARKERS = 5_000
"""Marked figures of a file; to find what each names takes a millisecond."""

_CLAIM_UNITS = {"x": RATIO_UNITS, "fraction": SHARE_UNITS, "accepted/drafted": SHARE_UNITS, "boolean": ("",)}


@dataclass(frozen=True)
class LedgerEntry:
    """One marked figure, or one file of prose that could not be read; `problem` is none where all agrees."""

    path: str
    line: int
    figure: str
    problem: Problem | None = None
    message: str = ""


def exit_code(entries: Iterable[LedgerEntry]) -> int:
    """2 if a figure does not hold, else 3 if something could not be read, else 0."""
    problems = {entry.problem for entry in entries if entry.problem is not None}
    if problems - {"UNREADABLE"}:
        return 2
    return 3 if problems else 0


def check_ledger(paths: Sequence[Path], named: Sequence[Path] = ()) -> Iterator[LedgerEntry]:
    """An entry for every marked figure in `paths` (of folders, their Markdown files), by path and line.

    Raises:
        reports.retractions.RetractionsError: what is retracted near a cited report cannot be known.
    """
    citations = Citations(named)
    for path in prose_files(paths):
        try:
            text = _prose(path)
        except (RefusedFileError, UnicodeDecodeError) as error:
            yield LedgerEntry(str(path), 0, "", "UNREADABLE", one_line(str(error)))
            continue
        markers = list(islice(find_markers(text), MOST_MARKERS + 1))
        if len(markers) > MOST_MARKERS:
            yield LedgerEntry(str(path), 0, "", "UNREADABLE", f"marks over {MOST_MARKERS} figures; split it")
            continue
        for marker in markers:
            yield _entry(path, marker, citations)


def _prose(path: Path) -> str:
    data = read_bounded(path)
    if len(data) > LONGEST_PROSE:
        problem = f"is {len(data)} bytes of prose, {LONGEST_PROSE} at most; split it"
        raise RefusedFileError(problem, could_not_open=False)
    return data.decode("utf-8")


def prose_files(paths: Sequence[Path]) -> list[Path]:
    """`paths` themselves, and of folders the Markdown files below them (none under hidden folders); sorted."""
    found: set[Path] = set()
    for path in paths:
        if not path.is_dir():
            found.add(path)
            continue
        for folder, names, files in os.walk(path):
            names[:] = [name for name in names if not name.startswith(".")]
            found.update(Path(folder, name) for name in files if name.lower().endswith(PROSE_SUFFIXES))
    return sorted(found, key=str)


def _entry(path: Path, marker: Marker | BrokenMarker, citations: Citations) -> LedgerEntry:
    if isinstance(marker, BrokenMarker):
        return LedgerEntry(str(path), marker.line, "", "MARKER_BROKEN", marker.message)
    figure = one_line(marker.figure.text)
    try:
        _hold(marker, citations.open(path, marker.path, marker.digest))
    except StaleError as error:
        return LedgerEntry(str(path), marker.line, figure, error.problem, one_line(str(error), 1000))
    return LedgerEntry(str(path), marker.line, figure)


def _hold(marker: Marker, cited: Cited) -> None:
    """Raises `StaleError` unless the marked figure is what the report carries."""
    assert cited.report is not None
    if any(step.startswith("stated_") for step in marker.pointer.split("/")):
        raise StaleError(
            "NOT_ADMITTED", f"{marker.path}: {marker.pointer} is what a tool stated, not what was measured"
        )
    try:
        value = resolve(cited.document, marker.pointer)
    except DanglingError as error:
        raise StaleError("POINTER_DANGLES", f"{marker.path}: {error}") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StaleError("POINTER_DANGLES", f"{marker.path}: {marker.pointer} is no number")
    claim = _claim_at(cited.report, marker.pointer)
    if claim is not None:
        _must_be_admitted(cited, claim)
        _must_have_unit(marker, claim)
    _must_be_named(marker, claim)
    _must_agree(marker, value)
    if claim is not None and isinstance(marker.figure, PrintedShare):
        _must_count(marker.figure, claim, cited.report)


def _claim_at(report: Report, pointer: str) -> Claim | None:
    """The claim that the pointer leads into.

    Raises:
        StaleError: it is pointed to by its number. A report that is judged anew is the same one, and its claims may
            stand in other places.
    """
    parts = steps(pointer)
    if len(parts) < 3 or parts[0] != "claims":
        return None
    for claim in report.claims:
        if claim.name == parts[1]:
            return claim
    raise StaleError("POINTER_DANGLES", f"{pointer} points to a claim by its number; point to it by its name")


def _must_be_admitted(cited: Cited, claim: BaseClaim) -> None:
    if any(admitted.claim.name == claim.name for admitted in cited.judged.headlines):
        return
    codes = next((judged.withheld_by for judged in cited.judged.claims if judged.name == claim.name), ())
    raise StaleError("NOT_ADMITTED", f"{claim.name} is withheld ({', '.join(codes) or 'not claimed'})")


def _must_have_unit(marker: Marker, claim: Claim) -> None:
    """A ratio is not shown as a percentage, nor a share as a ratio: the number would be right and read wrong."""
    figure = marker.figure
    if not marker.pointer.endswith("/value") or not isinstance(figure, PrintedNumber):
        return
    if figure.unit not in _CLAIM_UNITS[claim.unit]:
        raise StaleError("FIGURE_STALE", f"{figure.text} is shown, and the unit of {claim.name} is {claim.unit}")


_NAMES: dict[str, tuple[str, ...]] = {
    "interval": ("interval", " to "),
    "leave_one_out": ("left out", "leaving", "without"),
    "end_to_end": ("end to end",),
    "ratio_of_totals": ("all tokens", "total"),
    "groups": ("kind", "group", "template", "document"),
    "prompts": ("prompt",),
    "processes": ("process",),
    "ratios": ("ratio",),
    "p": ("chance", "p ="),
    "committed_per_block": ("block",),
    "by_position": ("position",),
    "samples": ("prompt", "sample"),
    "error_ratio": ("error",),
    "error_interval": ("error", "interval"),
}
"""By field of a claim, words of which prose beside the figure must say one: a bound is no speed-up."""

_RATIOS = ("end_to_end", "ratio_of_totals", "leave_one_out", "interval", "error_ratio", "error_interval")
"""Fields that may be shown as so many times, once they are named."""


def _must_be_named(marker: Marker, claim: Claim | None) -> None:
    """What is cited as a ratio or a share is the value of a claim; any other figure of a claim is called what it is."""
    unit = marker.figure.unit if isinstance(marker.figure, PrintedNumber) else ""
    if claim is None:
        if unit in ("x", "×", "times", "%", "percent"):
            raise StaleError("FIGURE_STALE", f"{marker.figure.text} is shown, and {marker.pointer} is no claim's value")
        return
    field = steps(marker.pointer)[2]
    if field == "value":
        return
    words = _NAMES.get(field, ())
    said = any(word in marker.around.lower() for word in words)
    if not said or (unit in ("x", "×", "times") and field not in _RATIOS):
        wanted = f"; call it what it is ({' or '.join(word.strip() for word in words)})" if words and not said else ""
        raise StaleError(
            "FIGURE_STALE", f"{marker.figure.text} is shown, and {marker.pointer} is not its value{wanted}"
        )


def _must_agree(marker: Marker, value: float) -> None:
    figure = marker.figure
    if not figure.agrees(value):
        found = figure.of(value) if isinstance(figure, PrintedNumber) else f"{value:g}"
        raise StaleError("FIGURE_STALE", f"{figure.text} is shown, {marker.pointer} is {found}")


def _must_count(figure: PrintedShare, claim: Claim, report: Report) -> None:
    found = counted(ReportView(report), claim)
    if found is not None and (found.correct, found.total) != (figure.part, figure.whole):
        raise StaleError("FIGURE_STALE", f"{figure.text} is shown, the rows have {found.correct}/{found.total}")
