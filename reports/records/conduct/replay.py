"""A replay: rows of another report, drawn at random, run again on a second machine."""

from typing import Annotated

from pydantic import Field

from reports.records.codec_rows import CodecSample, OracleSample
from reports.records.drafter_parity import ParityBlock
from reports.records.measurement import AuditedStream, Measurement
from reports.records.provenance import Host, Package, Runtime
from reports.records.record import Count, Digest, Name, Record

Told = Annotated[str, Field(max_length=400)]


class ParityPrompt(Record):
    """All blocks that a parity report compares after one prompt."""

    sample: Count
    blocks: tuple[ParityBlock, ...]


AnyRow = Measurement | OracleSample | CodecSample | ParityPrompt
"""A row of a timed run, of the plain model or a codec in a codec run, or a prompt of a parity run."""


class DrawnFrom(Record):
    """An arm of the original, and how many rows of it there are to draw from."""

    arm: Name
    kind: Name = Field(description="Arms of one role, engine, restoration and drafter; each is drawn from")
    rows: Annotated[int, Field(ge=0, le=3_000_000)]


class ReplayedRow(Record):
    """A drawn row, as the report has it and as it came out here."""

    arm: Name
    place: Count = Field(description="Among the rows of its arm, from 0")
    original: AnyRow
    replayed: AnyRow | None = Field(None, description="None if it could not run here")
    original_audit: AuditedStream | None = Field(None, description="Of the original's stream, as the original has it")
    audit: AuditedStream | None = Field(None, description="Of the original's stream, by the verifier here")
    not_run: Told | None = Field(None, description="Why it could not run here")


class ReplayedFact(Record):
    """What the original says of a setting, and what it is here; long values by their digest."""

    field: Name
    original: Told
    replayed: Told | None = Field(None, description="None if it could not be made again here")


class ReplayResult(Record):
    """What was drawn from which report, and both sides of it."""

    original: Digest = Field(description="Of the content of the report that was replayed")
    original_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,128}$")]
    original_kind: Name
    original_host: Host | None = None
    original_packages: tuple[Package, ...] = ()
    original_runtime: Runtime | None = Field(None, description="None: MLX")
    seed: Count = Field(description="Of the draw")
    asked: Annotated[int, Field(ge=1, le=10_000, description="Rows drawn at random from all")]
    population: tuple[DrawnFrom, ...] = Field(min_length=1, max_length=1000)
    facts: tuple[ReplayedFact, ...] = Field((), max_length=20_000)
    rows: tuple[ReplayedRow, ...] = Field(max_length=11_000)
