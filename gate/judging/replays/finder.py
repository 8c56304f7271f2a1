"""Finds the replays of a report, and the report of a replay: in the folder of the file, or among those judged."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gate.judging.judge import judge
from gate.judging.replays.beside import NOTHING_BESIDE, Beside, unlike_original
from reports.content_digest import content_digest
from reports.reading.evidence import Evidence
from reports.reading.reader import read_evidence
from reports.report import Report

_HEAD = 1000
"""Bytes in which a report of K3 tells its kind and its id, which stand first."""

_REPLAY_KIND = re.compile(rb'"kind"\s*:\s*"replay"')
_REPORT_ID = re.compile(rb'"report_id"\s*:\s*"([A-Za-z0-9._-]{1,128})"')


class ReplayFinder:
    """Looks through every folder once, and opens only what its first bytes call a replay, or the report of one."""

    def __init__(self) -> None:
        self._heads: dict[Path, dict[Path, bytes]] = {}
        self._sound: dict[Path, tuple[Report, ...]] = {}
        self._originals: dict[str, Report] = {}
        self._replays: list[Report] = []
        self.missing: set[str] = set()
        """Digests of reports that a replay names and nobody found yet."""

    def beside(self, evidence: Evidence) -> Beside:
        """What lies near a file: of a report the sound replays of it, of a replay its report."""
        report, folder = evidence.outcome, evidence.path.parent
        if not isinstance(report, Report):
            return NOTHING_BESIDE
        if report.replay is not None:
            original = self._original_of(report, folder)
            if original is None:
                self.missing.add(report.replay.original)
            elif report not in self._replays and _is_sound(report, original):
                self._replays.append(report)
            return Beside(original=original)
        near = [*self._sound_in(folder), *self._replays]
        digest = evidence.digest if near else None
        named = [one for one in near if one.replay is not None and one.replay.original == digest]
        return Beside(replays=tuple(one for place, one in enumerate(named) if one not in named[:place]))

    def know(self, evidence: Evidence) -> bool:
        """Take a file for the report of a replay that missed it; false if it is none."""
        report = evidence.outcome
        if not isinstance(report, Report) or evidence.digest not in self.missing:
            return False
        self._originals[evidence.digest] = report
        return True

    def _original_of(self, replay: Report, folder: Path) -> Report | None:
        """The report that a replay names, by its digest; by its id it is looked for."""
        assert replay.replay is not None
        wanted, named = replay.replay.original, replay.replay.original_id.encode()
        if wanted not in self._originals:
            for path, head in self._heads_in(folder).items():
                found = _REPORT_ID.search(head)
                if found is not None and found[1] == named:
                    report = read_evidence(path).outcome
                    if isinstance(report, Report) and content_digest(report) == wanted:
                        self._originals[wanted] = report
        return self._originals.get(wanted)

    def _sound_in(self, folder: Path) -> tuple[Report, ...]:
        """The replays directly in `folder` that are of a report there, and break no rule that makes them invalid."""
        if folder not in self._sound:
            self._sound[folder] = tuple(self._find_sound(folder))
        return self._sound[folder]

    def _find_sound(self, folder: Path) -> Iterator[Report]:
        for path, head in self._heads_in(folder).items():
            report = read_evidence(path).outcome if _REPLAY_KIND.search(head) else None
            if isinstance(report, Report) and report.replay is not None:
                original = self._original_of(report, folder)
                if original is not None and _is_sound(report, original):
                    yield report

    def _heads_in(self, folder: Path) -> dict[Path, bytes]:
        if folder not in self._heads:
            self._heads[folder] = dict(_heads(folder))
        return self._heads[folder]


def _is_sound(replay: Report, original: Report) -> bool:
    return unlike_original(replay, original) is None and judge(replay).verdict != "invalid"


def _heads(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The first bytes of every file *.json in a folder, by name; none of what cannot be opened."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(".json") and _is_file(entry))
    except OSError:
        return
    for name in names:
        try:
            with (folder / name).open("rb") as file:
                yield folder / name, file.read(_HEAD)
        except OSError:
            continue


def _is_file(entry: "os.DirEntry[str]") -> bool:
    return entry.is_file(follow_symlinks=False)
