"""Retractions: reports, or single claims of them, that are never to be cited again, whatever their rows say."""

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from reports.records.record import Digest, Name, Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.one_line import one_line
from reports.untrusted.toml import TomlError, parse_toml

FILE_NAME = "RETRACTIONS.toml"
MAX_BYTES = 2**20
"""A larger file is refused; a retraction is a few lines."""


class RetractionsError(ValueError):
    """A retractions file that cannot be read as one; the message is one line with file and field."""


class Retraction(Record):
    """One report that was taken back, named by its digest, its report id, or both (either one matches)."""

    digest: Digest | None = Field(
        None, description="As `k3 report show` prints it, or of the bytes of the file; of what was imported, too"
    )
    report_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,128}$")] | None = None
    claims: Annotated[tuple[Name, ...], Field(strict=False)] = Field((), description="Claim names; empty means all")
    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    date: datetime.date = Field(description="When it was taken back")
    superseded_by: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        None, description="Report id, digest or address of what replaces it"
    )

    @model_validator(mode="after")
    def _names_a_report(self) -> Self:
        if self.digest is None and self.report_id is None:
            raise ValueError("needs a digest or a report_id; without one it retracts nothing")
        return self

    def names(self, report_id: str | None, digests: frozenset[str]) -> bool:
        """This entry is about the report with this id, or with one of these digests."""
        return (self.digest is not None and self.digest in digests) or (
            self.report_id is not None and self.report_id == report_id
        )


class _File(Record):
    retraction: Annotated[tuple[Retraction, ...], Field(strict=False)] = ()


@dataclass(frozen=True)
class Retractions:
    """The entries of one file, in its order."""

    path: Path
    entries: tuple[Retraction, ...]

    def about(self, report_id: str | None, digests: frozenset[str]) -> tuple[Retraction, ...]:
        """The entries that name this report by its id or by one of its digests."""
        return tuple(entry for entry in self.entries if entry.names(report_id, digests))


def load_retractions(path: Path) -> Retractions:
    """Read a retractions file: TOML, one `[[retraction]]` table an entry; an empty file retracts nothing.

    Raises:
        RetractionsError: missing, unreadable, too large, no TOML, or an entry with a wrong, missing or unknown field.
            Nothing may be cited on the strength of a file that says what may not be cited and cannot be read.
    """
    try:
        data = read_bounded(path)
    except RefusedFileError as error:
        raise RetractionsError(f"{shown(path)}: {error}") from error
    if len(data) > MAX_BYTES:
        raise RetractionsError(f"{shown(path)}: is {len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        return Retractions(path, _File.model_validate(parse_toml(data)).retraction)
    except ValidationError as error:
        raise RetractionsError(f"{shown(path)}: {describe_invalid(error, _File)}; correct the entry") from error
    except TomlError as error:
        raise RetractionsError(f"{shown(path)}: not TOML in UTF-8: {one_line(str(error))}") from error


def shown(path: Path) -> str:
    """The path, fit for one line of a message."""
    return one_line(str(path), 1000)
