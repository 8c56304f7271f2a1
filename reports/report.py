"""The schema-2 report, and how it is read from and written to a file."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError, model_validator

from reports.atomic_file import write_atomically
from reports.file_form.form import from_file_form, to_file_form
from reports.file_form.form_error import FileFormError
from reports.file_form.json_text import json_bytes
from reports.file_form.layout import laid_out
from reports.records.claims import Claim
from reports.records.codec_rows import KvQuantResult
from reports.records.conduct.platform_tests import PlatformTests
from reports.records.conduct.replay import ReplayResult
from reports.records.conduct.runtime_smoke import RuntimeSmoke
from reports.records.drafter_parity import ParityResult
from reports.records.kv_memory import MemoryTable
from reports.records.measurement import Arm
from reports.records.plan import PlanInfo, PresetInfo, WorkloadInfo
from reports.records.provenance import MachineReading, Provenance, RunLedger
from reports.records.record import Digest, Name, Record
from reports.records.verdict import GateBlock
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.strict_json import BYTE_ORDER_MARK, Json, StrictJsonError, parse

SCHEMA_VERSION: Literal[2] = 2
Kind = Literal["niah", "code", "parity", "kv_quant", "runtime_smoke", "platform_tests", "replay", "chat", "benchmark"]
IMPORTED_KINDS = ("chat", "benchmark")
"""Kinds that K3 never runs: a report of one is valid only if it is imported."""

MOST_ARMS = 1000
MOST_JUDGED = 3_000_000
"""Claims times rows: every claim is derived again from rows. A run of 1,000 prompts in 6 arms and 3 repeats has 18,000
rows and some 40 claims."""


class Imported(Record):
    """This report was made from another tool's file: nothing in it was measured by K3, nothing is verified."""

    importer: Name
    original_kind: Name | None = None
    original_schema_version: int | None = None
    original_digest: Digest = Field(description="Of the values in the file that was imported, however it is laid out")
    file_digest: Digest | None = Field(None, description="Of the bytes of that file")
    notes: tuple[str, ...] = Field((), description="What the importer derived, and what the format does not record")


class Report(Record):
    """One run."""

    schema_version: Literal[2] = SCHEMA_VERSION
    kind: Kind
    report_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,128}$")]
    created_at: AwareDatetime | None = Field(None, description="UTC")
    imported: Imported | None = None
    preset: PresetInfo | None = None
    provenance: Provenance | None = None
    workload: WorkloadInfo | None = None
    plan: PlanInfo | None = None
    machine: tuple[MachineReading, ...] | None = Field(
        None, description="Before and after every process of a timed run; none if nobody looked"
    )
    run_ledger: RunLedger | None = Field(None, description="Which runs of the plan came before; none before K3 kept it")
    arms: tuple[Arm, ...] = ()
    memory: MemoryTable | None = None
    parity: ParityResult | None = None
    kv_quant: KvQuantResult | None = None
    runtime_smoke: RuntimeSmoke | None = None
    platform_tests: PlatformTests | None = None
    replay: ReplayResult | None = None
    claims: tuple[Claim, ...] = ()
    gate: GateBlock | None = None

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        """No more arms, and no more claims over rows, than a judge gets through."""
        codecs = self.kv_quant.arms if self.kv_quant is not None else ()
        arms = (*self.arms, *codecs)
        if len(arms) > MOST_ARMS:
            raise ValueError(f"{len(arms)} arms; a report has at most {MOST_ARMS}")
        rows = sum(len(arm.measurements) for arm in self.arms) + sum(len(codec.samples) for codec in codecs)
        rows += len(self.replay.rows) if self.replay is not None else 0
        if len(self.claims) * max(rows, MOST_ARMS) > MOST_JUDGED:
            raise ValueError(f"{len(self.claims)} claims over {rows} rows; at most {MOST_JUDGED} in all are judged")
        return self


class ReportError(ValueError):
    """A file that is no valid schema-2 report; the message is one line with file and field."""


def load_report(path: Path) -> Report:
    """Read a schema-2 report written by K3.

    Raises:
        ReportError: unreadable, not JSON, a newer schema, or a field that does not validate.
    """
    try:
        data = read_bounded(path)
    except RefusedFileError as error:
        raise ReportError(f"{path}: {error}") from error
    return parse_report(data, path)


def parse_report(data: bytes, path: Path) -> Report:
    """Validate the bytes of a schema-2 report; `path` is for messages only.

    Raises:
        ReportError: as for `load_report`.
    """
    try:
        return validate_document(parse(data).value, data)
    except (StrictJsonError, FileFormError) as error:
        raise ReportError(f"{path}: {error}") from error
    except ValidationError as error:
        raise ReportError(f"{path}: {describe_invalid(error)}") from error


def validate_document(document: Json, data: bytes) -> Report:
    """The report in a parsed file, in the form that is written or in that of old, records all the way down.

    `data` are the bytes that `document` was parsed from. The document is used up.

    Raises:
        FileFormError: columns or streams that do not fit together.
        ValidationError: a field that does not validate.
    """
    text = json_bytes(document) if from_file_form(document) else data.removeprefix(BYTE_ORDER_MARK)
    if isinstance(document, dict):
        document.clear()  # a hostile one and its records would not fit into memory together
    return Report.model_validate_json(text)


def report_bytes(report: Report) -> bytes:
    """The file form: fields in declared order, absent fields left out, a row a line, one trailing newline."""
    document = report.model_dump(mode="json", exclude_none=True)
    return (laid_out(to_file_form(document)) + "\n").encode()


def write_report(report: Report, path: Path) -> None:
    """Write `report` so that a reader finds the old file or the whole new one, never a part.

    Raises:
        OSError: the folder is not writable or the disk is full; the old file, if any, is untouched.
    """
    write_atomically(report_bytes(report), path)
