"""Reports that prose cites: where a marker's path leads, and what is there, read and judged once."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from gate.judging.batch import Judge
from gate.judging.judged_file import JudgedFile
from reports.report import Report

Problem = Literal[
    "MARKER_BROKEN", "REPORT_MISSING", "DIGEST_STALE", "POINTER_DANGLES", "FIGURE_STALE", "NOT_ADMITTED", "UNREADABLE"
]


class StaleError(Exception):
    """A marker that does not hold; `problem` says in which way."""

    def __init__(self, problem: Problem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


@dataclass(frozen=True)
class Cited:
    """A cited file; `report` is none if it holds none, or an old one."""

    report: Report | None
    digest: str | None
    judged: JudgedFile

    @cached_property
    def document(self) -> Any:
        """The report as JSON values, absent fields as null."""
        return self.report.model_dump(mode="json") if self.report is not None else None


class Citations:
    """Opens what markers name; keeps what it has judged."""

    def __init__(self, named: Sequence[Path] = ()) -> None:
        """`named` are retractions files to obey beside those found near the reports."""
        self._named = tuple(named)
        self._cited: dict[Path, Cited] = {}

    def open(self, prose: Path, name: str, digest: str) -> Cited:
        """The admissible report that a marker in `prose` names.

        Raises:
            StaleError: it is missing, outside the repository, unreadable, of another digest, or not admissible.
            reports.retractions.RetractionsError: what is retracted near it cannot be known.
        """
        path, top = locate(prose, name)
        if path not in self._cited:
            read = Judge([top], self._named).read(path)
            report = read.evidence.outcome if isinstance(read.evidence.outcome, Report) else None
            self._cited[path] = Cited(report, read.evidence.digest, read.judged)
        cited = self._cited[path]
        _must_be_citable(cited, name, digest)
        return cited


def _must_be_citable(cited: Cited, name: str, digest: str) -> None:
    judged, found = cited.judged, (cited.digest or "").removeprefix("sha256:")
    if not judged.opened:
        raise StaleError("UNREADABLE", f"{name}: {judged.violations[0].message}")
    if not found.startswith(digest):
        raise StaleError("DIGEST_STALE", f"{name} now has digest sha256:{found[: len(digest)]}")
    if cited.report is None or judged.verdict != "admissible":
        codes = ", ".join(dict.fromkeys(violation.code for violation in judged.violations))
        raise StaleError("NOT_ADMITTED", f"{name} is {judged.state}{f' ({codes})' if codes else ''}")


def locate(prose: Path, name: str) -> tuple[Path, Path]:
    """The existing file that a marker in `prose` names, and the folder that it must not leave.

    The name is relative to the repository of the prose file (where there is none: to the working directory, if the
    file is below it), or to the file's own folder.

    Raises:
        StaleError: the name is absolute, leads out of that folder, also by a link, or nothing is there.
    """
    folder = Path(os.path.realpath(prose)).parent
    top = _repository(folder)
    places = [Path(os.path.normpath(base / name)) for base in (top, folder) if not os.path.isabs(name)]
    inside = [path for path in places if name.isprintable() and _real(path).is_relative_to(top)]
    if not inside:
        raise StaleError("REPORT_MISSING", f"{name} leads out of the repository; cite a report inside it")
    for path in inside:
        if os.path.lexists(path):
            return path, top
    raise StaleError("REPORT_MISSING", f"there is no report {name}")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _repository(folder: Path) -> Path:
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    here = _real(Path.cwd())
    return here if folder.is_relative_to(here) else folder
