"""Audits of streams by the verifier: there at all, of these very streams, and seeing what they must have seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, lossless, row_key
from gate.rulebook.rule import NEEDS_STREAMS, Example, Finding
from gate.rules.streams.departure import departure

if TYPE_CHECKING:
    from reports.records.measurement import Arm, AuditedStream, Measurement


@evidence_rule(
    "STREAM_AUDIT_MISMATCH",
    title="An audit that does not fit its stream",
    catches="An audited stream that no row has, a number of checked tokens that is not its length, or a mismatch "
    "whose token is not the one emitted there.",
    why="An audit copied from another run, or of the tokens before they were edited, proves nothing about these.",
    fix="Audit the streams that the report holds, after the run and before the file is written.",
    example=Example(bad="40 tokens checked of a stream of 48", good="48 tokens checked of a stream of 48"),
)
def stream_audit_mismatch(view: ReportView) -> Iterator[Finding]:
    """Audit and rows disagree about what was emitted."""
    for arm in view.report.arms:
        rows = {row_key(row): row for row in arm.measurements}
        for stream in arm.stream_audit.streams if arm.stream_audit is not None else ():
            row = rows.get(row_key(stream))
            ids = row.token_ids if row is not None and row.token_ids is not None else ()
            fault = _audit_fault(stream, ids) if row is not None else "no row has this stream"
            if fault is not None:
                yield Finding(
                    f"{arm.name}, sample {stream.sample}, repeat {stream.repeat}: {fault}",
                    arm=arm.name,
                    sample=stream.sample,
                    field="stream_audit",
                    found=str(stream.tokens_checked),
                    allowed=str(len(ids)),
                )


def _audit_fault(stream: AuditedStream, ids: tuple[int, ...]) -> str | None:
    if stream.tokens_checked != len(ids):
        return f"{stream.tokens_checked} tokens were audited, {len(ids)} were emitted"
    places = [miss.position for miss in stream.mismatches]
    if places != sorted(set(places)):
        return f"its mismatches do not ascend ({', '.join(map(str, places[:6]))})"
    for miss in stream.mismatches:
        if miss.position >= len(ids) or ids[miss.position] != miss.emitted:
            return f"the audit saw token {miss.emitted} at {miss.position}, the row emitted another"
        if miss.argmax == miss.emitted or miss.gap < 0:
            return f"the mismatch at {miss.position} is none (argmax {miss.argmax}, gap {miss.gap})"
    return None


@evidence_rule(
    "STREAM_UNAUDITED",
    title="Streams that nobody checked against the verifier",
    catches="A row of the oracle or of an arm under test that loses nothing, whose tokens are missing or were not "
    "audited.",
    why="Equal to the oracle is not right if the oracle is wrong, and equal cannot be told without tokens.",
    fix="Keep the token ids of every row and audit every distinct stream, teacher-forced.",
    severity="withheld",
    blocks=NEEDS_STREAMS,
    example=Example(bad="a fused arm without `stream_audit`", good="every distinct stream of the arm audited"),
)
def stream_unaudited(view: ReportView) -> Iterator[Finding]:
    """A stream of the oracle or of a lossless arm under test was not audited."""
    for arm in view.report.arms:
        if not lossless(arm) or arm.role == "control":
            continue
        audited = {row_key(stream) for stream in arm.stream_audit.streams} if arm.stream_audit else set()
        known = {(row.sample, row.token_ids) for row in arm.measurements if row_key(row) in audited}
        unknown = [row for row in arm.measurements if row.token_ids is None or (row.sample, row.token_ids) not in known]
        if unknown:
            yield Finding(
                f"{arm.name}: {len(unknown)} of {len(arm.measurements)} streams were not audited (first: sample "
                f"{unknown[0].sample}, repeat {unknown[0].repeat})",
                arm=arm.name,
                sample=unknown[0].sample,
                field="stream_audit",
                found=str(len(arm.measurements) - len(unknown)),
                allowed=str(len(arm.measurements)),
            )


@evidence_rule(
    "STREAM_AUDIT_SILENT",
    title="A stream that leaves the oracle's, and an audit that saw nothing",
    catches="A lossy arm whose stream differs from the oracle's at a token where its audit records no mismatch, or "
    "another choice of the verifier than the oracle's.",
    why="A control made to fail with a text editor keeps the audit of the stream it really had.",
    fix="Audit the streams of every arm, the controls' too, and edit none.",
    blocks=("restoration_recall", "arm_recall", "kv_saving"),
    example=Example(
        bad="a control that says another code, audited without a mismatch",
        good="its audit: 3.8 logits from the oracle's token",
    ),
)
def stream_audit_silent(view: ReportView) -> Iterator[Finding]:
    """A departure from the oracle's stream that the audit of the arm does not explain."""
    oracle = view.oracle
    if oracle is None:
        return
    truth = {row.sample: row for row in reversed(oracle.measurements)}
    for arm in view.report.arms:
        if lossless(arm) or arm.prompt_set != oracle.prompt_set:
            continue
        for row in arm.measurements:
            theirs = truth.get(row.sample)
            if theirs is not None:
                yield from _unexplained(view, arm, row, oracle, theirs)


def _unexplained(view: ReportView, arm: Arm, row: Measurement, oracle: Arm, theirs: Measurement) -> Iterator[Finding]:
    place, audit = departure(row, theirs), view.audit_of(arm, row)
    if audit is None:
        return
    ids, others = row.token_ids, theirs.token_ids
    if place is None or ids is None or others is None or place >= min(len(ids), len(others)):
        return
    if _chosen(audit, place) == others[place] or _chosen(view.audit_of(oracle, theirs), place) is not None:
        return
    where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
    yield Finding(
        f"{where}: says {ids[place]} at token {place}, {oracle.name} {others[place]}, and its audit does not "
        "record the difference",
        arm=arm.name,
        sample=row.sample,
        field="stream_audit",
        found=str(_chosen(audit, place)),
        allowed=str(others[place]),
    )


def _chosen(audit: AuditedStream | None, place: int) -> int | None:
    """The verifier's choice at a place where it was not the emitted token; none where it was."""
    mismatches = audit.mismatches if audit is not None else ()
    return next((miss.argmax for miss in mismatches if miss.position == place), None)
