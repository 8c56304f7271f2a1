"""One run in the ledger: that it begins, how it ends, and what its report says of the runs before it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from importlib import metadata
from pathlib import Path
from typing import Literal, TypeVar

from harness.base.clock import utc_now
from harness.base.progress import Progress
from harness.plans.plan import Plan
from harness.runs.run_ledger.chain import Chain
from harness.runs.run_ledger.entries import RunEnded, RunResumed, RunStarted
from harness.runs.run_ledger.history import earlier_runs, mends, run_to_go_on_with, unfinished_runs
from harness.runs.run_ledger.ledger_file import STATE_VARIABLE, append, read_ledger, state_folder
from harness.runs.run_ledger.opt_out import left_out
from reports.content_digest import content_digest
from reports.journal import journal_of
from reports.printing.say import say
from reports.records.provenance import RunLedger
from reports.records.record import Digest, digest_of
from reports.report import Report

T = TypeVar("T")
P = TypeVar("P", bound=Plan)


class Recording:
    """A run that was begun. Where the ledger cannot be written the run goes on, one line says so, and so does its
    report."""

    def __init__(self, plan: Plan, out: Path) -> None:
        self._plan = plan
        self._out = out
        self._run: Digest | None = None
        self._folder = Path(STATE_VARIABLE)  # until it is known
        self._state: Literal["recorded", "opted_out", "unwritable"] = "opted_out" if left_out() else "recorded"
        self._try(self._begin)

    def ended(self, report: Report) -> Report:
        """Write down that the run ended in `report`, and return that with what the ledger says of it."""
        told = self._try(lambda: self._end_in(report))
        return told or report.replace(run_ledger=RunLedger(state=self._state))

    def broke_off(self, how: Literal["interrupted", "failed"]) -> None:
        """Write down that the run ended without a report."""
        if self._run is not None:
            run = self._run
            self._try(lambda: append(RunEnded(at=utc_now(), run=run, how=how), self._folder))

    def _begin(self) -> None:
        self._folder = state_folder()
        place = digest_of(os.fsencode(self._out.resolve()))
        start = RunStarted(
            at=utc_now(),
            preset=self._plan.preset.name,
            plan=self._plan.digest(),
            family=self._plan.family(),
            place=place,
        )
        kept = os.path.lexists(journal_of(self._out))
        self._run = run_to_go_on_with(read_ledger(self._folder), start) if kept else None
        if self._run is None:
            self._run = append(start, self._folder)
        else:
            append(RunResumed(at=utc_now(), run=self._run), self._folder)

    def _end_in(self, report: Report) -> Report:
        assert self._run is not None
        assert report.plan is not None
        assert report.provenance is not None
        models, source = report.provenance.models, report.provenance.source
        end = RunEnded(
            at=utc_now(),
            run=self._run,
            how="report",
            plan=report.plan.digest,
            family=self._plan.family(*(model.weights or "" for model in models)),
            code=digest_of(source.model_dump_json().encode()) if source is not None else None,
            agreed=report.parity.agreed if report.parity is not None else None,
            written=self._out.absolute().as_uri(),
        )
        told = report.replace(run_ledger=self._told(read_ledger(self._folder), end))
        append(end.replace(report=content_digest(told)), self._folder)
        return told

    def _told(self, chain: Chain, end: RunEnded) -> RunLedger:
        """What the ledger says before `end` is in it."""
        torn, broken = mends(chain)
        return RunLedger(
            state="recorded",
            head=chain.head,
            entries=len(chain.entries),
            begun_at=chain.entries[0].entry.at if chain.entries else None,
            installed_at=installed_at(),
            torn=torn,
            broken=broken,
            earlier=earlier_runs(chain, end),
            unfinished=unfinished_runs(chain, end.run, self._plan.family()),
        )

    def _try(self, step: Callable[[], T]) -> T | None:
        """Do it, unless nothing is to be recorded; if it cannot be done, say so, and record nothing from here on."""
        if self._state != "recorded":
            return None
        try:
            return step()
        except OSError as error:
            self._state = "unwritable"
            told = f"{self._folder}: the run ledger cannot be written ({error.strerror or error})"
            say(f"k3: {told}; the run goes on, and its report says that it is not recorded", sys.stderr)
            return None


@contextmanager
def recorded(plan: Plan, out: Path) -> Iterator[Recording]:
    """Record the run of the body, whose report goes to `out`, however it ends. A kill leaves a run without an end."""
    run = Recording(plan, out)
    try:
        yield run
    except BaseException as error:
        run.broke_off("interrupted" if isinstance(error, KeyboardInterrupt) else "failed")
        raise


def in_ledger(run: Callable[[P, Path, Progress], Report]) -> Callable[[P, Path, Progress], Report]:
    """What `run(plan, out, progress)` does, written into the run ledger; its report says what the ledger said then."""

    @wraps(run)
    def recording(plan: P, out: Path, progress: Progress) -> Report:
        with recorded(plan, out) as entry:
            return entry.ended(run(plan, out, progress))

    return recording


def installed_at() -> datetime | None:
    """When this K3 was installed: the date of the list of files that every installer writes; none if there is none."""
    try:
        listed = metadata.distribution("k3").files or ()
        record = next((file for file in listed if file.name == "RECORD"), None)
        moment = Path(str(record.locate())).stat().st_mtime if record is not None else None
    except (metadata.PackageNotFoundError, OSError):
        return None
    return datetime.fromtimestamp(moment, UTC).replace(microsecond=0) if moment is not None else None
