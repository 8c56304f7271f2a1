"""The growing report of a codec run: written after every sample, taken up again after a kill."""

from pathlib import Path

from harness.runs.journal import save_report, take_up
from harness.runs.output_lock import release
from reports.records.codec_rows import CodecSample, KvQuantResult, OracleSample
from reports.report import Report


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
        journal = cls(take_up(skeleton, path, _measured), path)
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
        release(self._path)
        return self._report

    def _update_plan(self, **changes: object) -> None:
        assert self._report.plan is not None
        self._report = self._report.replace(plan=self._report.plan.replace(**changes))

    def _save(self) -> None:
        save_report(self._report, self._path)


def _measured(report: Report) -> int:
    """Samples already measured."""
    return len(report.kv_quant.oracle) if report.kv_quant is not None else 0
