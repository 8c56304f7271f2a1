"""What a file turned out to be: a report, or what stands in its place and why."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from reports.content_digest import content_digest
from reports.report import Report


@dataclass(frozen=True)
class Legacy:
    """Evidence of a schema before 2: never citable. `report` is what its importer makes of it, if it can."""

    report: Report | None
    problem: str | None = None


@dataclass(frozen=True)
class NotAReport:
    """A file that is in no way a report (verdict `not_evidence`), and why it is taken for none."""

    reason: str = field(default="nothing in it is a report", compare=False)


@dataclass(frozen=True)
class Unreadable:
    """No acceptable JSON. `could_not_open`: the file system was in the way; else the content was refused."""

    message: str
    could_not_open: bool


@dataclass(frozen=True)
class Invalid:
    """A report, or something that looks like one, that does not hold; the message names the field."""

    message: str


Outcome = Report | Legacy | NotAReport | Unreadable | Invalid


@dataclass(frozen=True)
class Evidence:
    """A file as found.

    `file_digest` is of its bytes. `source` is `k3` for reports of our own, else the importer's name. `kind` and
    `schema_version` are as the file states them (the kind of the report where it states none).
    """

    path: Path
    outcome: Outcome
    file_digest: str | None = None
    source: str | None = None
    kind: str | None = None
    schema_version: int | None = None

    @property
    def report(self) -> Report | None:
        """The report in the file, of an old schema too; none if there is none."""
        outcome = self.outcome.report if isinstance(self.outcome, Legacy) else self.outcome
        return outcome if isinstance(outcome, Report) else None

    @cached_property
    def digest(self) -> str | None:
        """What identifies it: of the content of a report, and of the bytes of anything else."""
        return content_digest(self.report) if self.report is not None else self.file_digest
