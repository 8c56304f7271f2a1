"""Which runs of a report's plan came before it, and whether their reports can be seen where it is judged."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gate.judging.judged_file import JudgedFile
from gate.rules.claims.selected_run import RUN_SELECTED
from reports.reading.evidence import Evidence
from reports.reading.reader import read_evidence
from reports.records.provenance import EarlierRun
from reports.records.verdict import Violation
from reports.report import Report
from reports.retractions import Retraction

SHOWN = 3
"""Runs that a message names, by digest and time."""


class RunFinder:
    """Looks for the reports of earlier runs: every file is read once, and only if a report names some."""

    def __init__(self) -> None:
        self._judged: Sequence[Path] = ()
        self._digests: dict[Path, str | None] = {}
        self._seen: dict[Path, frozenset[str]] = {}

    def judged_with(self, paths: Sequence[Path]) -> None:
        """These are judged together: each may stand for a run of another one's plan."""
        self._judged = paths
        self._seen.clear()

    def barred(self, file: JudgedFile, evidence: Evidence, retractions: Sequence[Retraction]) -> JudgedFile:
        """The judged file; with its claims barred if earlier runs of the report's plan cannot be seen: neither beside
        it, nor judged together with it, nor retracted."""
        earlier = _earlier(evidence)
        counted = [run for run in earlier if not (evidence.kind == "parity" and run.agreed)]
        if not counted:
            return file
        seen = {entry.digest for entry in retractions} | self._seen_from(evidence.path.parent)
        unseen = tuple(run for run in counted if run.report not in seen)
        return replace(file.barred(_selected(len(earlier), unseen)), unseen=unseen) if unseen else file

    def _seen_from(self, folder: Path) -> frozenset[str]:
        """Digests of the reports directly in `folder`, and of all that are judged together."""
        if folder not in self._seen:
            found = map(self._digest_of, (*folder.glob("*.json"), *self._judged))
            self._seen[folder] = frozenset(digest for digest in found if digest is not None)
        return self._seen[folder]

    def _digest_of(self, path: Path) -> str | None:
        if path not in self._digests:
            evidence = read_evidence(path)
            self._digests[path] = evidence.digest if isinstance(evidence.outcome, Report) else None
        return self._digests[path]


def _earlier(evidence: Evidence) -> list[EarlierRun]:
    """The runs of the report's plan before it, by the same code."""
    ledger = evidence.outcome.run_ledger if isinstance(evidence.outcome, Report) else None
    return [run for run in (ledger.earlier if ledger is not None else ()) if run.plan != "other_code"]


def _selected(earlier: int, unseen: Sequence[EarlierRun]) -> Violation:
    more = f" and {len(unseen) - SHOWN} more" if unseen[SHOWN:] else ""
    shown = ", ".join(f"{run.report} of {run.ended_at:%Y-%m-%d %H:%M}" for run in unseen[:SHOWN])
    elder = "the report of one earlier run" if len(unseen) == 1 else f"the reports of {len(unseen)} earlier runs"
    return Violation(
        code=RUN_SELECTED.code,
        message=f"run_ledger.earlier: this is run {earlier + 1} of its plan on its machine, and {elder} "
        f"cannot be seen here ({shown}{more})",
        field="run_ledger.earlier",
        found=f"{len(unseen)} unseen",
        allowed="0 unseen",
    )
