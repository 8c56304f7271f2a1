"""The growing report of a run: on disk after every row, whole at any moment, taken up again after a kill."""

import glob
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.base.clock import utc_now
from harness.base.errors import OutputError
from harness.runs.output_lock import hold, release
from reports.records.kv_memory import MemoryTable
from reports.records.measurement import Arm, Measurement, StreamAudit
from reports.records.plan import Resume, Run, Warmup
from reports.records.provenance import Provenance
from reports.report import Report, ReportError, load_report, write_report


class Journal:
    """Collects rows into a report and writes it after each. One process writes one file."""

    def __init__(self, report: Report, path: Path) -> None:
        self._report = report
        self._path = path
        self._rows: dict[str, list[Measurement]] = {arm.name: list(arm.measurements) for arm in report.arms}
        assert report.plan is not None
        self._order: list[Run] = list(_order(report))

    @classmethod
    def open(cls, skeleton: Report, path: Path) -> "Journal":
        """Begin a report at `path`, or take up the unfinished one that stands there.

        Raises:
            OutputError: the folder is not writable, another process writes the file, or it is something else than
                this run, unfinished, on this machine and code.
        """
        journal = cls(take_up(skeleton, path, lambda report: len(_order(report))), path)
        journal.save()
        return journal

    @property
    def report(self) -> Report:
        """The report as far as it goes."""
        arms = tuple(arm.replace(measurements=tuple(self._rows[arm.name])) for arm in self._report.arms)
        assert self._report.plan is not None
        return self._report.replace(arms=arms, plan=self._report.plan.replace(order=tuple(self._order)))

    @property
    def done(self) -> frozenset[tuple[str, int, int]]:
        """(arm, sample, repeat) of every row already measured."""
        return frozenset((run.arm, run.sample, run.repeat) for run in self._order)

    def warmed(self, warmups: Iterable[Warmup]) -> None:
        """Record the warm-ups made before the first timed run."""
        self._update_plan(warmups=tuple(warmups))

    def next_order(self) -> int:
        """The position the next timed run has among all."""
        return len(self._order)

    def add(self, arm: str, row: Measurement) -> None:
        """Append a measured row and write the file."""
        self._rows[arm].append(row)
        self._order.append(Run(arm=arm, sample=row.sample, repeat=row.repeat))
        self.save()

    def finish(self, audits: dict[str, StreamAudit], memory: MemoryTable | None) -> Report:
        """Add what is computed after the last timed run, mark the report complete and write it."""
        arms = tuple(arm.replace(stream_audit=audits.get(arm.name)) for arm in self._report.arms)
        self._report = self._report.replace(arms=arms, memory=memory)
        self._update_plan(complete=True)
        self.save()
        release(self._path)
        return self.report

    def save(self) -> None:
        """Write the report atomically.

        Raises:
            OutputError: the file of the last good write is untouched.
        """
        save_report(self.report, self._path)

    def _update_plan(self, **changes: object) -> None:
        assert self._report.plan is not None
        self._report = self._report.replace(plan=self._report.plan.replace(**changes))


def take_up(skeleton: Report, path: Path, done: Callable[[Report], int]) -> Report:
    """The report to go on with at `path`, held for this process: `skeleton`, or what a killed run of it left there.

    `done` counts what was measured; a report taken up after that much says so in its plan.

    Raises:
        OutputError: as `Journal.open`.
    """
    hold(path)
    remove_leftovers(path)
    if not path.exists():
        return skeleton
    found = unfinished(path)
    if found is None:
        raise OutputError(f"{path}: exists and is no unfinished run; choose another --out")
    assert found.plan is not None
    assert skeleton.plan is not None
    if found.plan.digest != skeleton.plan.digest:
        raise OutputError(f"{path}: is the unfinished report of another run; choose another --out")
    other = unlike(found, skeleton)
    if other is not None:
        raise OutputError(f"{path}: its rows cannot be gone on with: {other}; choose another --out")
    if not done(found) or found.plan.complete:
        return found
    resume = Resume(order=done(found), at=utc_now())
    return found.replace(plan=found.plan.replace(resumes=(*found.plan.resumes, resume)))


def save_report(report: Report, path: Path) -> None:
    """Write the report atomically.

    Raises:
        OutputError: the file of the last good write is untouched.
    """
    try:
        write_report(report, path)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); what was written before is kept: make room or "
            "choose another --out, then run the same command to go on"
        ) from error


def _order(report: Report) -> tuple[Run, ...]:
    """The timed runs in the order they were made."""
    return (report.plan.order or ()) if report.plan is not None else ()


def unfinished(path: Path) -> Report | None:
    """The report at `path` if it is one of a run that was killed before its last row, or before it was judged."""
    try:
        report = load_report(path)
    except ReportError:
        return None
    ours = report.plan is not None and report.imported is None
    return report if ours and report.gate is None else None


def unlike(found: Report, skeleton: Report) -> str | None:
    """Why rows measured now do not belong beside those found: other code, machine, model or arms; rows out of order."""
    for name in ("kind", "preset", "workload"):
        if getattr(found, name) != getattr(skeleton, name):
            return f"its {name} is another"
    ours, theirs = _conditions(skeleton.provenance), _conditions(found.provenance)
    for name, value in ours.items():
        if theirs.get(name) != value:
            return f"provenance.{name} has changed since it was begun"
    if [_bare(arm) for arm in found.arms] != [_bare(arm) for arm in skeleton.arms]:
        return "its arms are others"
    order = (found.plan.order or ()) if found.plan is not None else ()
    rows = sorted((row.order, arm.name, row.sample, row.repeat) for arm in found.arms for row in arm.measurements
                  if row.order is not None)  # fmt: skip
    listed = [(place, run.arm, run.sample, run.repeat) for place, run in enumerate(order)]
    if rows != listed or len(rows) != sum(len(arm.measurements) for arm in found.arms):
        return "its rows are not those of its order; it was edited"
    return None


def _conditions(provenance: Provenance | None) -> dict[str, object]:
    """What a run is measured under: everything but the arguments, and what was found out about the models since."""
    if provenance is None:
        return {}
    conditions: dict[str, object] = {name: getattr(provenance, name) for name in type(provenance).model_fields}
    del conditions["argv"]
    conditions["models"] = tuple(model.replace(faithfulness=None) for model in provenance.models)
    return conditions


def _bare(arm: Arm) -> Arm:
    """The arm without what was measured."""
    return arm.replace(measurements=(), stream_audit=None)


def remove_leftovers(path: Path) -> None:
    """Delete temporary files that a kill during a write of this report left beside it.

    Raises:
        OutputError: the folder is not writable.
    """
    try:
        for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
            leftover.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: its folder cannot be written ({error.strerror}); choose another --out") from error
