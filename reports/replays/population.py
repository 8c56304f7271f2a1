"""The rows of a report that can be run again, arm by arm."""

from collections.abc import Sequence

from reports.records.codec_rows import CodecArm, KvQuantResult
from reports.records.conduct.replay import AnyRow, DrawnFrom, ParityPrompt
from reports.records.drafter_parity import ParityResult
from reports.records.measurement import Arm, AuditedStream, Measurement
from reports.report import Report

REPLAYED_KINDS = ("niah", "code", "parity", "kv_quant")
"""Kinds of reports that have a model behind every row."""

AuditKey = tuple[str, int, tuple[int, ...] | None]

ORACLE = "oracle"
"""What the rows of the plain model are drawn as in a codec run, where it is no arm."""


def population(report: Report) -> tuple[DrawnFrom, ...]:
    """Every arm with its rows to draw from, in the order of the report."""
    kinds = {ORACLE: ORACLE} | {codec.name: _codec_kind(codec) for codec in _codecs(report)}
    kinds |= {arm.name: _kind(arm) for arm in report.arms}
    return tuple(
        DrawnFrom(arm=name, kind=kinds.get(name, "parity"), rows=len(rows)) for name, rows in rows_of(report).items()
    )


def rows_of(report: Report) -> dict[str, Sequence[AnyRow]]:
    """The rows of every arm by its name; those of a second arm of one name are none that can be named."""
    found: dict[str, Sequence[AnyRow]] = {}
    if report.kv_quant is not None:
        found |= _of_codecs(report.kv_quant)
    if report.parity is not None and report.kind == "parity":
        found[report.parity.candidate_runtime] = _of_parity(report.parity)
    for arm in report.arms:
        found.setdefault(arm.name, arm.measurements)
    return found


def audits_of(report: Report) -> dict[AuditKey, AuditedStream]:
    """The audit of every stream by arm, sample and tokens: one stands for all rows that emitted the stream."""
    found: dict[AuditKey, AuditedStream] = {}
    for arm in report.arms:
        streams = {(row.sample, row.repeat, row.process): row.token_ids for row in arm.measurements}
        for audit in arm.stream_audit.streams if arm.stream_audit is not None else ():
            ids = streams.get((audit.sample, audit.repeat, audit.process))
            found.setdefault((arm.name, audit.sample, ids), audit)
    return found


def audit_key(arm: str, row: AnyRow) -> AuditKey:
    """Where `audits_of` has the audit of a row, if the row has a stream that is audited."""
    return (arm, row.sample, row.token_ids if isinstance(row, Measurement) else None)


def _kind(arm: Arm) -> str:
    restored = arm.restoration.mode if arm.restoration is not None else "none"
    return f"{arm.role} {arm.engine} {restored} {arm.drafter.name if arm.drafter is not None else 'none'}"[:200]


def _codecs(report: Report) -> tuple[CodecArm, ...]:
    return report.kv_quant.arms if report.kv_quant is not None else ()


def _codec_kind(codec: CodecArm) -> str:
    return codec.path or "codec"


def _of_codecs(result: KvQuantResult) -> dict[str, Sequence[AnyRow]]:
    found: dict[str, Sequence[AnyRow]] = {ORACLE: result.oracle}
    for codec in result.arms:
        found.setdefault(codec.name, codec.samples)
    return found


def _of_parity(parity: ParityResult) -> tuple[ParityPrompt, ...]:
    """The prompts, each with its blocks."""
    samples = dict.fromkeys(block.sample for block in parity.blocks)
    return tuple(
        ParityPrompt(sample=sample, blocks=tuple(block for block in parity.blocks if block.sample == sample))
        for sample in samples
    )
