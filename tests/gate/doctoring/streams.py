"""Streams trimmed, extended, altered or replaced, and their audits."""

import random
from collections.abc import Callable

from reports.records.measurement import Arm, AuditedStream, Measurement, Mismatch
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import any_arm, any_row, of_role, under_test
from tests.gate.doctoring.reshape import arm_of, paced
from tests.gate.edits import edit_arm, edit_rows

OTHER = 77


@doctoring()
def trim_a_stream(report: Report, rng: random.Random) -> Report | None:
    """Tokens are cut off the end of a row's stream."""
    name = any_arm(report, rng)
    if name is None:
        return None
    key = any_row(report, name, rng)

    def edit(row: Measurement) -> Measurement:
        return row.replace(token_ids=(row.token_ids or ())[: -rng.randint(1, 3)] or None)

    return edit_rows(report, name, edit, where=lambda row: (row.sample, row.repeat) == key)


@doctoring()
def trim_streams_throughout(report: Report, rng: random.Random) -> Report | None:
    """The streams of an arm are cut to half, counts and audit to match; its times stay as if they were of less."""
    name = under_test(report, rng)
    if name is None or any(row.speculation for row in arm_of(report, name).measurements):
        return None

    def edit(row: Measurement) -> Measurement:
        ids = (row.token_ids or ())[: max(2, len(row.token_ids or ()) // 2)]
        return row.replace(token_ids=ids, decode_tokens=len(ids) - 1)

    return _re_audited(edit_rows(report, name, edit), name)


@doctoring()
def extend_a_stream(report: Report, rng: random.Random) -> Report | None:
    """Tokens are added to a row's stream."""
    name = any_arm(report, rng)
    if name is None:
        return None
    key = any_row(report, name, rng)

    def edit(row: Measurement) -> Measurement:
        return row.replace(token_ids=(*(row.token_ids or ()), OTHER, OTHER + 1))

    return edit_rows(report, name, edit, where=lambda row: (row.sample, row.repeat) == key)


@doctoring()
def extend_streams_throughout(report: Report, rng: random.Random) -> Report | None:
    """The streams of a plain arm are made longer, counts and audit to match; its times stay."""
    name = under_test(report, rng)
    if name is None or any(row.speculation for row in arm_of(report, name).measurements):
        return None

    def edit(row: Measurement) -> Measurement:
        ids = (*(row.token_ids or ()), *range(OTHER, OTHER + len(row.token_ids or ()) // 2 + 1))
        return row.replace(token_ids=ids, decode_tokens=len(ids) - 1)

    return _re_audited(edit_rows(report, name, edit), name)


@doctoring()
def alter_a_token(report: Report, rng: random.Random) -> Report | None:
    """One token of one row is another one."""
    name = any_arm(report, rng)
    if name is None:
        return None
    key = any_row(report, name, rng)
    return edit_rows(report, name, _altering(rng), where=lambda row: (row.sample, row.repeat) == key)


@doctoring()
def alter_a_token_as_tie(report: Report, rng: random.Random) -> Report | None:
    """One token of a row is another one, and the audit calls it a tie."""
    name = under_test(report, rng)
    if name is None:
        return None
    key = any_row(report, name, rng)
    report = edit_rows(report, name, _altering(rng), where=lambda row: (row.sample, row.repeat) == key)
    return _re_audited(report, name, tie=True)


def _altering(rng: random.Random) -> Callable[[Measurement], Measurement]:
    def edit(row: Measurement) -> Measurement:
        ids = list(row.token_ids or (1,))
        ids[rng.randrange(len(ids))] = OTHER
        return row.replace(token_ids=tuple(ids))

    return edit


def _re_audited(report: Report, name: str, *, tie: bool = False) -> Report:
    """The audit of an arm for the streams it now has: all well, but for ties where they leave the oracle's."""
    truth = of_role(report, "oracle")
    theirs = {row.sample: row.token_ids or () for row in truth.measurements} if truth is not None else {}

    def edit(arm: Arm) -> Arm:
        if arm.stream_audit is None:
            return arm
        streams: dict[tuple[int, tuple[int, ...]], AuditedStream] = {}
        for row in arm.measurements:
            ids = row.token_ids or ()
            other = theirs.get(row.sample, ())
            misses = [
                Mismatch(position=place, emitted=ours, argmax=own, gap=0.004)
                for place, (ours, own) in enumerate(zip(ids, other, strict=False))
                if tie and ours != own
            ]
            audit = AuditedStream(
                sample=row.sample, repeat=row.repeat, tokens_checked=len(ids), mismatches=tuple(misses)
            )
            streams.setdefault((row.sample, ids), audit)
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=tuple(streams.values())))

    return edit_arm(report, name, edit)


@doctoring()
def copy_streams_between_prompts(report: Report, rng: random.Random) -> Report | None:
    """Every prompt of every arm is answered with the stream of the first one."""
    if not report.arms:
        return None
    for arm in report.arms:
        first = arm.measurements[0]

        def edit(row: Measurement, first: Measurement = first) -> Measurement:
            by = (first.decode_tokens or 1) / (row.decode_tokens or 1)
            fields = ("token_ids", "text", "decode_tokens")
            if row.speculation is not None:
                return row.replace(token_ids=first.token_ids, text=first.text)
            return paced(row.replace(**{field: getattr(first, field) for field in fields}), decode=by)

        report = _re_audited(edit_rows(report, arm.name, edit), arm.name)
    return report
