"""Consistent edits: what a careful editor rewrites so that one change leaves no contradiction behind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reports.records.measurement import Arm, AuditedStream, BlockRecord, Measurement, Speculation, StreamAudit
from reports.records.plan import PromptRecord, Run, prompts_digest
from reports.report import Report
from tests.gate.edits import edit_arm, edit_rows

Keep = Callable[[Arm, Measurement], bool]


def us(seconds: float) -> float:
    """As clocks are written: to the microsecond."""
    return round(seconds, 6)


def arm_names(report: Report, *roles: str) -> list[str]:
    """Names of the arms in these roles, in the report's order."""
    return [arm.name for arm in report.arms if arm.role in roles]


def arm_of(report: Report, name: str) -> Arm:
    """The arm of this name."""
    return next(arm for arm in report.arms if arm.name == name)


def timed(row: Measurement, **stages: float | None) -> Measurement:
    """The row with stages of other seconds, and the sum to match."""
    row = row.replace(**{name: us(value) if value is not None else None for name, value in stages.items()})
    parts = (row.restoration_s, row.aux_s, row.prefill_s, row.decode_s)
    return row.replace(e2e_s=us(sum(part or 0.0 for part in parts)))


def paced(row: Measurement, decode: float = 1.0, prefill: float = 1.0, restoration: float = 1.0) -> Measurement:
    """The row with stages that took so many times as long, blocks and sum to match."""
    said = row.speculation
    if said is not None and decode != 1.0:
        row = row.replace(speculation=paced_blocks(said, decode))
    return timed(
        row,
        decode_s=row.decode_s * decode if row.decode_s is not None else None,
        prefill_s=row.prefill_s * prefill if row.prefill_s is not None else None,
        aux_s=row.aux_s * prefill if row.aux_s is not None else None,
        restoration_s=row.restoration_s * restoration if row.restoration_s is not None else None,
    )


def paced_blocks(said: Speculation, factor: float) -> Speculation:
    """The blocks, and their sums, with other times."""
    names = ("draft_s", "verify_s", "extend_s", "rollback_s")
    rounds = tuple(
        block.replace(**{name: us(getattr(block, name) * factor) for name in (*names, "seconds")})
        for block in said.rounds or ()
    )
    return summed(said, rounds)


def summed(said: Speculation, rounds: Sequence[BlockRecord]) -> Speculation:
    """`rounds` with the totals that they give."""
    committed = sum(block.committed for block in rounds)
    changes: dict[str, Any] = {
        "blocks": len(rounds),
        "drafted": sum(block.drafted for block in rounds),
        "accepted": sum(block.accepted for block in rounds),
        "committed": committed,
        "mean_accept_len": committed / len(rounds) if rounds else 0.0,
        "rounds": tuple(rounds),
    }
    for name in ("draft_s", "verify_s", "extend_s", "rollback_s"):
        changes[name] = us(sum(getattr(block, name) for block in rounds))
    return said.replace(**changes)


def with_rounds(row: Measurement, rounds: Sequence[BlockRecord]) -> Measurement:
    """The row with these blocks; it decodes as long as they take."""
    assert row.speculation is not None
    row = row.replace(speculation=summed(row.speculation, rounds))
    return timed(row, decode_s=sum(block.seconds for block in rounds))


def ordered(report: Report, order: Sequence[Run]) -> Report:
    """`report` with this order of runs, in the plan and in the rows."""
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}
    for name in [arm.name for arm in report.arms]:
        report = edit_rows(
            report, name, lambda row, name=name: row.replace(order=places.get((name, row.sample, row.repeat)))
        )
    assert report.plan is not None
    return report.replace(plan=report.plan.replace(order=tuple(order)))


def runs_in_order(report: Report) -> list[Run]:
    """The runs of the plan, as they happened."""
    return list(report.plan.order or ()) if report.plan is not None else []


def with_rows(arm: Arm, rows: Sequence[Measurement]) -> Arm:
    """The arm with these rows, and the audit of each distinct stream kept as far as there is one."""
    old = {(stream.sample, stream.repeat): stream for stream in arm.stream_audit.streams} if arm.stream_audit else {}
    known = {(row.sample, row.token_ids): old[row.sample, row.repeat] for row in arm.measurements
             if (row.sample, row.repeat) in old}  # fmt: skip
    return arm.replace(measurements=tuple(rows), stream_audit=_audit(arm, rows, known))


def _audit(arm: Arm, rows: Sequence[Measurement], known: Mapping[tuple[int, Any], AuditedStream]) -> StreamAudit | None:
    if arm.stream_audit is None:
        return None
    streams: dict[tuple[int, Any], AuditedStream] = {}
    for row in rows:
        key = (row.sample, row.token_ids)
        if key in known and key not in streams:
            streams[key] = known[key].replace(sample=row.sample, repeat=row.repeat)
    return arm.stream_audit.replace(streams=tuple(streams.values()))


def selected(report: Report, samples: Sequence[int], repeats: Sequence[int]) -> Report:
    """`report` as if only these samples and repeats had been planned and run, numbered anew from 0.

    The order of what stays is kept; prompts, digests, audits and the plan's counts follow. A memory table of a prompt
    that goes is left out.
    """
    new_sample = {old: new for new, old in enumerate(samples)}
    new_repeat = {old: new for new, old in enumerate(repeats)}
    arms = tuple(_renumbered(arm, new_sample, new_repeat) for arm in report.arms)
    order = [
        Run(arm=run.arm, sample=new_sample[run.sample], repeat=new_repeat[run.repeat])
        for run in runs_in_order(report)
        if run.sample in new_sample and run.repeat in new_repeat
    ]
    report = _with_prompts(report, new_sample).replace(arms=arms)
    assert report.plan is not None
    report = report.replace(plan=report.plan.replace(samples=len(samples), repeats=len(repeats)))
    if report.memory is not None:
        kept = tuple(
            table.replace(sample=new_sample[table.sample]) for table in report.memory.arms if table.sample in new_sample
        )
        report = report.replace(memory=report.memory.replace(arms=kept) if kept else None)
    return ordered(report, order) if report.arms else report


def _renumbered(arm: Arm, samples: Mapping[int, int], repeats: Mapping[int, int]) -> Arm:
    rows = [row for row in arm.measurements if row.sample in samples and row.repeat in repeats]
    kept = with_rows(arm, rows)
    audit = kept.stream_audit
    if audit is not None:
        audit = audit.replace(
            streams=tuple(s.replace(sample=samples[s.sample], repeat=repeats[s.repeat]) for s in audit.streams)
        )
    moved = tuple(row.replace(sample=samples[row.sample], repeat=repeats[row.repeat]) for row in rows)
    return kept.replace(measurements=moved, stream_audit=audit)


def _with_prompts(report: Report, samples: Mapping[int, int]) -> Report:
    if report.workload is None:
        return report
    prompts = tuple(p.replace(sample=samples[p.sample]) for p in report.workload.prompts if p.sample in samples)
    return with_prompts(report, prompts)


def with_prompts(report: Report, prompts: Sequence[PromptRecord]) -> Report:
    """`report` with these prompts, and the digest that they give."""
    assert report.workload is not None
    workload = report.workload.replace(prompts=tuple(prompts))
    return report.replace(workload=workload.replace(digest=prompts_digest(workload.prompts)))


def edit_all_rows(report: Report, names: Sequence[str], edit: Callable[[Measurement], Measurement]) -> Report:
    """`report` with the rows of these arms edited."""
    for name in names:
        report = edit_rows(report, name, edit)
    return report


def set_arm(report: Report, name: str, **changes: Any) -> Report:
    """`report` with fields of an arm set."""
    return edit_arm(report, name, lambda arm: arm.replace(**changes))
