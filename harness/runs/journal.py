"""The journal of a run: what was measured is on disk when `append` returns, and a line costs the line.

The report is written once, at the end, and takes the journal's place.
"""

import errno
import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from harness.base.clock import utc_now
from harness.base.errors import OutputError
from harness.runs.resumption import unlike
from reports.atomic_file import write_atomically
from reports.journal import (
    Begun,
    End,
    Entry,
    JournalError,
    Lines,
    MeasuredRow,
    MeasuredSample,
    Resumed,
    decode,
    encode,
    journal_of,
)
from reports.records.plan import Resume
from reports.report import Report, ReportError, load_report, report_bytes
from reports.untrusted.files import MAX_BYTES, RefusedFileError, read_bounded
from reports.untrusted.strict_json import MAX_VALUES, values_in

E = TypeVar("E", bound=Entry)
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class Journal:
    """The lines of one run, open for the next one. `skeleton` is the report as it was before anything was measured."""

    def __init__(self, out: Path, skeleton: Report, lines: Lines, descriptor: int, before: int) -> None:
        self.skeleton = skeleton
        self.entries = list(lines.entries)
        self.path = journal_of(out)
        self._out = out
        self._descriptor = descriptor
        self._end = lines.end
        self._taken_up = self.measured > before

    @classmethod
    @contextmanager
    def open(cls, skeleton: Report, out: Path, before: int = 0) -> Iterator["Journal"]:
        """The journal of the run that will write `out`: a new one, or that of the same run, which was interrupted.

        It is deleted if nothing was measured when the body ends. `before` are the rows of processes that came to their
        end before this one began; with more, this one was interrupted.

        Raises:
            OutputError: the folder is not writable, something is at `out`, or the journal beside it is damaged or not
                of this run on this machine and code.
        """
        refuse_taken(out)
        lines = _lines_of(skeleton, out)
        begun = skeleton.replace(report_id=lines.report.report_id, created_at=lines.report.created_at)
        with _told(out):
            descriptor = os.open(journal_of(out), _FLAGS)
        journal = cls(out, begun, lines, descriptor, before)
        try:
            with _told(out):
                os.ftruncate(descriptor, lines.end.size)  # what a killed process wrote of a line is none
            yield journal
        finally:
            if not journal.measured and os.fstat(descriptor).st_size == journal._end.size:
                journal_of(out).unlink(missing_ok=True)
            os.close(descriptor)

    @property
    def measured(self) -> int:
        """Timed runs, or samples of a codec run, that count."""
        return measured(self.entries)

    def of(self, kind: type[E]) -> list[E]:
        """The entries of one kind, in order."""
        return [entry for entry in self.entries if isinstance(entry, kind)]

    def append(self, entry: Entry) -> None:
        """Write a line and wait until it is on disk; before the first one after an interruption, that there was one.

        Raises:
            OutputError: it cannot be written; all lines before it are as they were.
        """
        if self._taken_up:
            self._taken_up = False
            self.append(Resumed(resume=Resume(order=self.measured, at=utc_now())))
        try:
            line, end = encode(entry, self._end)
        except JournalError as error:
            raise OutputError(
                f"{self.path}: the run measures more than a report may hold ({error}); what was measured is kept "
                "there: begin a run of fewer samples or repeats with another --out"
            ) from error
        with _told(self._out):
            try:
                _write(self._descriptor, line)
                os.fsync(self._descriptor)
            except BaseException:
                os.ftruncate(self._descriptor, self._end.size)
                raise
        self._end = end
        self.entries.append(entry)


def measured(entries: Iterable[Entry]) -> int:
    """Timed runs, or samples of a codec run, that count."""
    return sum(isinstance(entry, MeasuredRow | MeasuredSample) and entry.counts for entry in entries)


def read_journal(out: Path) -> Lines | None:
    """What is in the journal of the run that will write `out`; None if there is none.

    Raises:
        OutputError: it cannot be read, or is damaged; one line, with what to do.
    """
    path = journal_of(out)
    if not os.path.lexists(path):
        return None
    try:
        return decode(read_bounded(path))
    except RefusedFileError as error:
        raise OutputError(f"{path}: {error}; move it away, or choose another --out") from error
    except JournalError as error:
        keep = f"delete that line and all after it to go on with the {error.line - 1} before it, or "
        raise OutputError(f"{path}: {error}; {keep if error.line > 1 else ''}choose another --out") from error


def settle(report: Report, out: Path) -> None:
    """Write the finished report, whole, and let its journal go.

    Raises:
        OutputError: it cannot be written; the rows are kept in the journal.
    """
    data = report_bytes(report)
    if len(data) > MAX_BYTES or values_in(data) > MAX_VALUES:
        raise OutputError(
            f"{out}: a report of {len(data) >> 20} MiB would not be read; its rows are kept in {journal_of(out)}: "
            "begin a run of fewer samples or repeats with another --out"
        )
    with _told(out):
        write_atomically(data, out)
        journal_of(out).unlink(missing_ok=True)


def drop_journal(out: Path) -> None:
    """Delete the journal of the report at `out`, if a kill between the writing of one and the other left it there.

    What is of another run is left alone, and so is what cannot be read or deleted: the report does not need it.
    """
    with suppress(OutputError, ReportError, OSError):
        lines = read_journal(out)
        if lines is not None and lines.report.report_id == load_report(out).report_id:
            journal_of(out).unlink()


def refuse_taken(out: Path) -> None:
    """Refuse a place where something is already.

    Raises:
        OutputError: there is a file at `out`; of an older K3's unfinished run the message says how to finish it.
    """
    if not os.path.lexists(out):
        return
    try:
        found = load_report(out)
    except ReportError:
        found = None
    if found is not None and found.gate is None and found.imported is None:
        source = found.provenance.source if found.provenance is not None else None
        made_by = f" (commit {source.git_commit[:12]})" if source is not None and source.git_commit else ""
        raise OutputError(
            f"{out}: is a run that an older K3 did not finish, and whose rows are in the report; finish it with that "
            f"K3{made_by}, or choose another --out"
        )
    raise OutputError(f"{out}: exists and is not the report of this run by this code; choose another --out")


def remove_leftovers(out: Path) -> None:
    """Delete temporary files that a kill during a write of this report or its journal left beside it.

    Raises:
        OutputError: the folder is not writable.
    """
    with _told(out):
        for leftover in out.parent.glob(f".{glob.escape(out.name)}.*.tmp"):
            leftover.unlink(missing_ok=True)


def _lines_of(skeleton: Report, out: Path) -> Lines:
    """What the journal of this very run holds; if there is none, it is begun."""
    lines = read_journal(out)
    if lines is None:
        line, end = encode(Begun(report=skeleton), End())
        with _told(out):
            write_atomically(line, journal_of(out))
        return Lines(skeleton, (), end)
    other = unlike(lines.report, skeleton)
    if other is not None:
        raise OutputError(f"{journal_of(out)}: its rows cannot be gone on with: {other}; choose another --out")
    return lines


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """Say in one line what the operating system has against a write."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = "make room, then the same command goes on with what was measured" if full else "choose another --out"
        raise OutputError(f"{out}: cannot be written ({error.strerror}); {remedy}") from error
