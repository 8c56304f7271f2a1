"""Judging many files: read one, judge it, keep what is printed of it, let go of the rest."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.judging.beside.other_runs import RunFinder
from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.replays.beside import NOTHING_BESIDE, Beside
from gate.judging.replays.finder import ReplayFinder
from gate.judging.retractions_in_force import RetractionFinder
from gate.rules.parity.shown_parity import PARITY_REQUIRED, parity_shown
from reports.reading.evidence import Evidence
from reports.reading.reader import evidence_of, read_evidence
from reports.report import Report
from reports.untrusted.files import RefusedFileError, find_files, read_bounded

_PARITY_KIND = re.compile(rb'"kind"\s*:\s*"parity"')


@dataclass(frozen=True)
class JudgedEvidence:
    """A file read and judged."""

    evidence: Evidence
    judged: JudgedFile

    @property
    def parity(self) -> frozenset[str]:
        """Digests of the drafter weights whose parity an admissible parity report shows; else none."""
        report = self.evidence.outcome
        citable = isinstance(report, Report) and report.kind == "parity" and self.judged.verdict == "admissible"
        return parity_shown(report) if citable and isinstance(report, Report) else frozenset()


class Judge:
    """Judges files in the light of what lies near them: what was retracted, whose parity was shown, and which other
    runs of their plans are there.

    A drafter's parity counts if an admissible parity report of the same weights lies in the folder of the judged
    file, or was handed to `know`.
    """

    def __init__(self, tops: Sequence[Path] = (), named: Sequence[Path] = ()) -> None:
        """`tops` and `named` are as for `RetractionFinder`.

        Raises:
            reports.retractions.RetractionsError: a named retractions file cannot be read.
        """
        self._retractions = RetractionFinder(tops, named)
        self._known: frozenset[str] = frozenset()
        self._folders: dict[Path, frozenset[str]] = {}
        self._runs = RunFinder()
        self._replays = ReplayFinder()

    def together(self, paths: Sequence[Path]) -> None:
        """These files are judged together, so that each may stand for a run of another one's plan."""
        self._runs.judged_with(paths)

    def know(self, parity: frozenset[str]) -> None:
        """Take the parity of these drafter weights as shown."""
        self._known |= parity

    def read(self, path: Path) -> JudgedEvidence:
        """Read and judge one file; whatever it holds is a finding, never an error.

        Raises:
            reports.retractions.RetractionsError: what is retracted near the file cannot be known.
        """
        evidence = read_evidence(path)
        beside = self._replays.beside(evidence)
        first = self._judge(evidence, self._known, beside)
        if not needs_parity(first.judged):
            return first
        return self._judge(evidence, self._known | self.parity_in(path.parent), beside)

    def replays_anew(self, paths: Sequence[Path]) -> frozenset[Path]:
        """Those of `paths` to be read again: replays whose report lies in another folder of them, and those reports."""
        missing = frozenset(self._replays.missing)
        if not missing:
            return frozenset()
        of_them, replays = set(), []
        for path in paths:
            evidence = read_evidence(path)
            if self._replays.know(evidence):
                of_them.add(path)
            if _names(evidence, missing):
                replays.append(path)
        for path in replays if of_them else ():
            self.read(path)
        return frozenset((*of_them, *replays)) if of_them else frozenset()

    def _judge(self, evidence: Evidence, parity: frozenset[str], beside: Beside = NOTHING_BESIDE) -> JudgedEvidence:
        retractions = self._retractions.in_force(evidence.path)
        judged = judge_evidence(evidence, retractions, parity, beside)
        return JudgedEvidence(evidence, self._runs.barred(judged, evidence, retractions))

    def parity_in(self, folder: Path) -> frozenset[str]:
        """What the parity reports directly in `folder` show; every folder is looked through once."""
        if folder not in self._folders:
            shown: frozenset[str] = frozenset()
            for path in sorted(folder.glob("*.json")):
                try:
                    data = read_bounded(path)
                except RefusedFileError:
                    continue
                if _PARITY_KIND.search(data):
                    shown |= self._judge(evidence_of(data, path), frozenset()).parity
            self._folders[folder] = shown
        return self._folders[folder]


def _names(evidence: Evidence, digests: frozenset[str]) -> bool:
    """It is a replay of a report of one of these digests."""
    report = evidence.outcome
    return isinstance(report, Report) and report.replay is not None and report.replay.original in digests


def needs_parity(file: JudgedFile) -> bool:
    """Some claim of the file waits for a parity report beside it."""
    return any(PARITY_REQUIRED in claim.withheld_by for claim in file.claims)


def judge_paths(paths: Sequence[Path], named: Sequence[Path] = ()) -> list[JudgedFile]:
    """Judge files, and all *.json and *.jsonl below folders, sorted by path; one report in memory at a time.

    What needs a parity report is judged again once every file was seen, and so are replays and the reports that they
    are of.

    Raises:
        reports.retractions.RetractionsError: what is retracted cannot be known, so nothing may be admitted.
    """
    judge = Judge(paths, named)
    found = find_files(paths)
    judge.together(found)
    files = []
    for path in found:
        read = judge.read(path)
        judge.know(read.parity)
        files.append(read.judged)
    anew = judge.replays_anew(found)
    return [
        judge.read(path).judged if needs_parity(file) or path in anew else file
        for path, file in zip(found, files, strict=True)
    ]


def folders_without_reports(paths: Sequence[Path], files: Sequence[JudgedFile]) -> list[Path]:
    """The folders among `paths` in which nothing that was judged is a report: most likely the wrong ones."""
    reports = [Path(file.path) for file in files if not file.opened or file.verdict != "not_evidence"]
    folders = [path for path in paths if path.is_dir()]
    return [folder for folder in folders if not any(path.is_relative_to(folder) for path in reports)]


def not_judged(paths: Sequence[Path], files: Sequence[JudgedFile], *, strict: bool) -> list[JudgedFile]:
    """Files of which nothing can be said since they are no reports: those that were named; all of them if `strict`."""
    named = {str(path) for path in paths if not path.is_dir()}
    return [file for file in files if file.opened and file.verdict == "not_evidence" and (strict or file.path in named)]


def iterate_paths(paths: Sequence[Path], named: Sequence[Path] = ()) -> Iterator[JudgedEvidence]:
    """The same files in the same order, each with its report, in the light of all of them.

    Raises:
        reports.retractions.RetractionsError: what is retracted cannot be known.
    """
    judge = Judge(paths, named)
    found = find_files(paths)
    judge.together(found)
    for path in found:
        judge.know(judge.read(path).parity)
    judge.replays_anew(found)
    yield from (judge.read(path) for path in found)
