"""Lossy streams against the audit: where one leaves the oracle's, the verifier must have preferred another token."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, lossless
from gate.rulebook.rule import Example, Finding
from gate.rules.streams.greedy import audit_of, departure
from reports.records.measurement import Arm, AuditedStream, Measurement


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
                yield from _unexplained(arm, row, oracle, theirs)


def _unexplained(arm: Arm, row: Measurement, oracle: Arm, theirs: Measurement) -> Iterator[Finding]:
    place, audit = departure(row, theirs), audit_of(arm, row)
    if audit is None:
        return
    ids, others = row.token_ids, theirs.token_ids
    if place is None or ids is None or others is None or place >= min(len(ids), len(others)):
        return
    if _chosen(audit, place) == others[place] or _chosen(audit_of(oracle, theirs), place) is not None:
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
