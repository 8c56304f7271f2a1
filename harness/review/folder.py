"""The folder of a review: where everything lies in it, and what every step left there, on disk before the next one."""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness.base.errors import OutputError
from reports.atomic_file import write_atomically
from reports.journal import journal_of
from reports.records.provenance import Host, SourceCode
from reports.records.record import Record, Seconds
from reports.untrusted.files import RefusedFileError, read_bounded


class StepRecord(Record):
    """A step that was begun: by which command, code and machine, and how it ended."""

    arguments: tuple[str, ...]
    source: SourceCode
    host: Host
    state: Literal["begun", "finished", "failed", "skipped"] = "begun"
    reason: str | None = None
    seconds: Seconds | None = None

    def same_run(self, other: "StepRecord") -> bool:
        """The same command, of the same code, on the same machine."""
        return (self.arguments, self.source, self.host) == (other.arguments, other.source, other.host)


class ReviewFolder:
    """Paths in the folder: `reports/` of the steps, `steps/` with their records, logs and what they print."""

    def __init__(self, top: Path) -> None:
        """Make it, and what it holds.

        Raises:
            OutputError: it cannot be made.
        """
        self.top = top.absolute()
        self.reports, self.steps, self.aside = self.top / "reports", self.top / "steps", self.top / "aside"
        try:
            for folder in (self.top, self.reports, self.steps):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{top}: cannot be made ({error.strerror}); choose another --out") from error
        self.lock, self.group = self.top / "lock", self.top / "group"

    def report(self, step: str) -> Path:
        """Where its report lies."""
        return self.reports / f"{step}.json"

    def printed(self, step: str) -> Path:
        """Where what it prints lies."""
        return self.steps / f"{step}.out"

    def log(self, step: str) -> Path:
        """Where what it logs lies."""
        return self.steps / f"{step}.log"

    def read(self, step: str) -> StepRecord | None:
        """What is known of a step; None if nothing is, or nothing that can be read."""
        try:
            return StepRecord.model_validate_json(read_bounded(self._record(step)))
        except (RefusedFileError, ValidationError):
            return None

    def keep(self, step: str, record: StepRecord) -> StepRecord:
        """Write down what is known of a step; it is on disk when this returns."""
        data = record.model_dump_json(indent=1, exclude_none=True) + "\n"
        write_atomically(data.encode(), self._record(step))
        return record

    def left(self, step: str) -> list[Path]:
        """Every file that the step wrote, but its record: report, rows, reports beside it, results, print and log."""
        own = (self.report(step), journal_of(self.report(step)), self.printed(step), self.log(step))
        beside = (*self.reports.glob(f"{step}-*"), self.reports / f"{step}.xml")
        return [path for path in (*own, *beside) if path.exists()]

    def set_aside(self, step: str) -> Path | None:
        """Move what the step left into a folder of its own under `aside/`; None if there is nothing."""
        left = self.left(step)
        if not left:
            return None
        number = 1
        while (place := self.aside / f"{step}-{number}").exists():
            number += 1
        place.mkdir(parents=True)
        for path in left:
            path.rename(place / path.name)
        return place

    def _record(self, step: str) -> Path:
        return self.steps / f"{step}.json"
