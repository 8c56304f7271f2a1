"""The journal of a run that has not come to its end: a line for the run, then a line for everything that was measured.

It lies beside the report to come, as `REPORT.json.rows`, and goes when that is written. Every line is one JSON object.
It begins with a checksum (CRC-32) over itself and all lines before it, so that a line that was damaged, moved or left
out is noticed, and ends with a line feed, so that a line whose writer was killed is known to be none.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from reports.records.codec_rows import ArmSample, OracleSample
from reports.records.kv_memory import MemoryTable
from reports.records.measurement import AuditedStream, Measurement, Pause
from reports.records.plan import Resume
from reports.records.provenance import MachineReading
from reports.records.record import Name, Record
from reports.report import Report
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import MAX_BYTES
from reports.untrusted.strict_json import MAX_VALUES, StrictJsonError, parse, values_in

SUFFIX = ".rows"
UNFINISHED = "the rows of a run that has not come to its end; the command that began it goes on with it"
"""What a journal is, to a reader who wants a report."""
MOST_LINES = 100_000
LONGEST_LINE = 16 * 2**20
"""Bytes. The longest honest line, one row of a stream of thousands of blocks, is a tenth of it."""
_CHECKED = re.compile(rb'\{"crc":"([0-9a-f]{8})",(?=")')


class Begun(Record):
    """The first line: the report as it was before anything was measured."""

    line: Literal["run"] = "run"
    report: Report


class Resumed(Record):
    """Another process went on from here."""

    line: Literal["resume"] = "resume"
    resume: Resume


class MeasuredRow(Record):
    """One run of an arm. A warm-up counts for nothing, nor does a row with a pause in it, which was measured again."""

    line: Literal["row"] = "row"
    arm: Name
    row: Measurement
    warm_up: Literal[True] | None = None
    pause: Pause | None = None

    @property
    def counts(self) -> bool:
        """Figures are made of it. The one place that tells such rows."""
        return not self.warm_up and self.pause is None


class MeasuredSample(Record):
    """One prompt of a codec run: the verifier itself, and every arm; with a pause in it as a row."""

    line: Literal["sample"] = "sample"
    oracle: OracleSample
    codecs: tuple[ArmSample, ...]
    pause: Pause | None = None

    @property
    def counts(self) -> bool:
        """Figures are made of it."""
        return self.pause is None


class Audited(Record):
    """The audit of the stream that a row emitted."""

    line: Literal["audit"] = "audit"
    arm: Name
    stream: AuditedStream


class Read(Record):
    """How busy the machine was."""

    line: Literal["machine"] = "machine"
    reading: MachineReading


class Computed(Record):
    """What no row holds: what the caches of the run should have held by formula."""

    line: Literal["computed"] = "computed"
    memory: MemoryTable


Entry = Begun | Resumed | MeasuredRow | MeasuredSample | Audited | Computed | Read
_ENTRY: TypeAdapter[Entry] = TypeAdapter(
    Annotated[Entry, Field(discriminator="line")], config=ConfigDict(defer_build=True)
)


class JournalError(ValueError):
    """Bytes that are not what a run wrote down; the message is one line. `line` is the first bad one, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True)
class End:
    """Where the next line goes: after so many lines, bytes and values, and after the checksum of the last one."""

    lines: int = 0
    size: int = 0
    values: int = 0
    checksum: int = 0

    def after(self, line: bytes, checksum: int) -> "End":
        """The end once this line is written.

        Raises:
            JournalError: the journal could not be read again, nor the report that it becomes.
        """
        try:
            end = End(self.lines + 1, self.size + len(line), self.values + values_in(line), checksum)
        except StrictJsonError as error:
            raise JournalError(self.lines + 1, str(error)) from error
        for found, most, what in (
            (len(line), LONGEST_LINE, "a line of {} bytes"),
            (end.lines, MOST_LINES, "{} lines"),
            (end.size, MAX_BYTES, "{} bytes"),
            (end.values, MAX_VALUES, "{} values"),
        ):
            if found > most:
                raise JournalError(end.lines, f"{what.format(found)}; {most} are the most that a journal may have")
        return end


@dataclass(frozen=True)
class Lines:
    """What a journal holds in its whole lines, and where they end."""

    report: Report
    entries: tuple[Entry, ...]
    end: End


def journal_of(report: Path) -> Path:
    """Where the journal of the run that will write `report` is."""
    return report.parent / f"{report.name}{SUFFIX}"  # `with_name` refuses "/" and "."


def is_unfinished(report: Path) -> bool:
    """There is no report at `report`, but the rows of a run that will write it."""
    return journal_of(report).exists() and not report.exists()


def encode(entry: Entry, end: End) -> tuple[bytes, End]:
    """The line of an entry that goes to this end, and the end after it.

    Raises:
        JournalError: with it, there would be more than can be read again.
    """
    body = entry.model_dump_json(exclude_none=True).encode()
    checksum = zlib.crc32(body, end.checksum)
    line = b'{"crc":"%08x",%b\n' % (checksum, body[1:])
    return line, end.after(line, checksum)


def decode(data: bytes) -> Lines:
    """The lines of a journal; a last one without its line feed is left out, since its writer was killed.

    Raises:
        JournalError: a line is damaged or none of a run, the first is not that of a run, or there are too many.
    """
    entries: list[Entry] = []
    end = End()
    for line in _whole_lines(data):
        entry, end = _decode_line(line, end)
        if isinstance(entry, Begun) != (end.lines == 1):
            raise JournalError(end.lines, "a journal begins with its run, and has one")
        entries.append(entry)
    if not entries:
        raise JournalError(1, "is no journal of a run")
    begun, *rest = entries
    assert isinstance(begun, Begun)
    return Lines(begun.report, tuple(rest), end)


def _whole_lines(data: bytes) -> Iterator[bytes]:
    """Lines with their line feed."""
    start = 0
    while (stop := data.find(b"\n", start) + 1) > 0:
        yield data[start:stop]
        start = stop


def _decode_line(line: bytes, end: End) -> tuple[Entry, End]:
    number = end.lines + 1
    start = _CHECKED.match(line)
    if start is None:
        raise JournalError(number, "is no line of a journal")
    body = b"{" + line[start.end() : -1]
    checksum = zlib.crc32(body, end.checksum)
    if checksum != int(start[1], 16):
        raise JournalError(number, "is not as it was written, or does not belong after the one before it")
    after = end.after(line, checksum)
    try:
        parse(body)  # bounds depth, and takes nothing that only one reader would take
        return _ENTRY.validate_json(body), after
    except StrictJsonError as error:
        raise JournalError(number, str(error)) from error
    except ValidationError as error:
        raise JournalError(number, describe_invalid(error)) from error
