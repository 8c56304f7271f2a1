"""What a replay is asked, and the refusals that need no model."""

from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CannotRunError
from harness.plans.preset import Device
from reports.engines import Backend
from reports.reading.evidence import Evidence, Unreadable
from reports.replays.population import REPLAYED_KINDS, population
from reports.report import Report


@dataclass(frozen=True)
class ReplayRequest:
    """A report to be replayed: how many rows, drawn with which seed, and where what it needs may be found.

    `models` are folders or names of the reviewer's beside the known ones; `prompts` and `preset` are files of the
    reviewer's, held to the digests that the report tells. With a `backend` the rows run on that one, whatever they ran
    on before, on `device` of it.
    """

    report: Report
    digest: str
    rows: int
    seed: int
    models: tuple[str, ...] = ()
    prompts: Path | None = None
    preset: Path | None = None
    backend: Backend | None = None
    device: Device | None = None


def replayable(evidence: Evidence) -> Report:
    """The report in a file, if there is a model behind its rows.

    Raises:
        CannotRunError: no report, another tool's, one of a kind without rows to run again, or one without rows.
    """
    report, where = evidence.outcome, evidence.path
    if not isinstance(report, Report):
        if isinstance(report, Unreadable):
            raise CannotRunError(f"{where}: {report.message}")
        raise CannotRunError(f"{where}: is no report of schema 2 (`k3 gate check` says why); only such are replayed")
    if report.imported is not None:
        raise CannotRunError(f"{where}: was imported from another tool's file; only what K3 measured is replayed")
    if report.kind not in REPLAYED_KINDS:
        kinds = ", ".join(REPLAYED_KINDS)
        raise CannotRunError(f"{where}: kind {report.kind} has no rows that a model made; replayed are {kinds}")
    if not any(one.rows for one in population(report)):
        raise CannotRunError(f"{where}: has no rows to draw from")
    if report.preset is None or report.provenance is None or report.workload is None:
        raise CannotRunError(f"{where}: names no preset, no models or no workload, so that nothing can be run again")
    return report
