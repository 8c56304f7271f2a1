"""The growing report of a codec run: written after every sample, taken up again after a kill."""

from pathlib import Path

from harness.clock import utc_now
from harness.errors import OutputError
from harness.journal import remove_leftovers, unfinished, unlike
from harness.output_lock import hold
from reports.kvquant import CodecSample, KvQuantResult, OracleSample
from reports.plan import Resume
from reports.report import Report, write_report


class KvQuantJournal:
    """Collects all rows of a sample at once, so that a sample is in the file wholly or not at all."""

    def __init__(self, report: Report, path: Path) -> None:
        self._report = report
        self._path = path

    @classmethod
    def open(cls, skeleton: Report, path: Path) -> "KvQuantJournal":
        """Begin a report at `path`, or take up the unfinished one of the same run that stands there.

        Raises:
            OutputError: the folder is not writable, another process writes the file, or it is something else than
                this run, unfinished, on this machine and code.
        """
        hold(path)
        remove_leftovers(path)
        journal = cls(skeleton, path)
        if path.exists():
            found = unfinished(path)
            if found is None or found.kv_quant is None or found.plan is None or skeleton.plan is None:
                raise OutputError(f"{path}: exists and is no unfinished run; choose another --out")
            if found.plan.digest != skeleton.plan.digest:
                raise OutputError(f"{path}: is the unfinished report of another run; choose another --out")
            if (other := unlike(found, skeleton)) is not None:
                raise OutputError(f"{path}: its rows cannot be gone on with: {other}; choose another --out")
            journal = cls(found, path)
            if journal.done and not found.plan.complete:
                resume = Resume(order=len(journal.done), at=utc_now())
                journal._update_plan(resumes=(*found.plan.resumes, resume))
        journal._save()
        return journal

    @property
    def result(self) -> KvQuantResult:
        """What was measured so far."""
        assert self._report.kv_quant is not None
        return self._report.kv_quant

    @property
    def done(self) -> frozenset[int]:
        """Samples already measured."""
        return frozenset(row.sample for row in self.result.oracle)

    def add(self, oracle: OracleSample, rows: dict[str, CodecSample]) -> None:
        """Append a sample: the oracle's row and one for every arm, and write the file."""
        arms = tuple(arm.replace(samples=(*arm.samples, rows[arm.name])) for arm in self.result.arms)
        measured = (*self.result.oracle, oracle)
        recall = sum(row.correct for row in measured) / len(measured)
        result = self.result.replace(oracle=measured, oracle_recall=recall, arms=arms)
        self._report = self._report.replace(kv_quant=result)
        self._save()

    def finish(self) -> Report:
        """Mark the report complete and write it."""
        self._update_plan(complete=True)
        self._save()
        return self._report

    def _update_plan(self, **changes: object) -> None:
        assert self._report.plan is not None
        self._report = self._report.replace(plan=self._report.plan.replace(**changes))

    def _save(self) -> None:
        try:
            write_report(self._report, self._path)
        except OSError as error:
            raise OutputError(
                f"{self._path}: cannot be written ({error.strerror}); what was written before is kept: make room or "
                "choose another --out, then run the same command to go on"
            ) from error
