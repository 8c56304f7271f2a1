"""From the lines of a journal to the report: what was measured, put where a report has it."""

from collections.abc import Iterable, Iterator, Sequence

from reports.journal import Audited, Computed, Entry, MeasuredRow, MeasuredSample, Read, Resumed
from reports.records.codec_rows import KvQuantResult, PausedSample
from reports.records.measurement import Arm, AuditedStream, Measurement, PausedRow, StreamAudit
from reports.records.plan import PlanInfo, Run
from reports.report import Report

Stream = tuple[str, int, tuple[int, ...] | None]
"""What decides an audit: the prompt set, the sample, and the token ids emitted."""


def measured_report(skeleton: Report, entries: Sequence[Entry]) -> Report:
    """The report of a run that came to its end: `skeleton` with everything that was measured."""
    assert skeleton.plan is not None
    resumes = tuple(entry.resume for entry in entries if isinstance(entry, Resumed))
    plan = skeleton.plan.replace(resumes=resumes, complete=True)
    if skeleton.kv_quant is not None:
        samples = [entry for entry in entries if isinstance(entry, MeasuredSample)]
        return skeleton.replace(plan=plan, kv_quant=_with_samples(skeleton.kv_quant, samples))
    rows = [entry for entry in entries if isinstance(entry, MeasuredRow)]
    arms = [_with_rows(arm, rows) for arm in skeleton.arms]
    audits = _audits(arms, (entry for entry in entries if isinstance(entry, Audited)))
    order = tuple(runs(entries))
    computed = next((entry for entry in entries if isinstance(entry, Computed)), None)
    return skeleton.replace(
        memory=computed.memory if computed is not None else None,
        machine=tuple(entry.reading for entry in entries if isinstance(entry, Read)),
        arms=tuple(arm.replace(stream_audit=_audit(arm, audits)) for arm in arms),
        plan=plan.replace(order=order, processes=_measured_processes(plan, order)),
    )


def _measured_processes(plan: PlanInfo, order: Sequence[Run]) -> int | None:
    """As many as were planned, and of a run with looks those that came to them."""
    return 1 + order[-1].process if plan.stopping is not None and order else plan.processes


def runs(entries: Iterable[Entry]) -> Iterator[Run]:
    """The timed runs that count, in order."""
    for entry in entries:
        if isinstance(entry, MeasuredRow) and entry.counts:
            yield row_of(entry.arm, entry.row)


def row_of(arm: str, row: Measurement | AuditedStream) -> Run:
    """Which row of which arm it is, or audits the stream of."""
    return Run(arm=arm, sample=row.sample, repeat=row.repeat, process=row.process)


def distinct_streams(arms: Iterable[Arm]) -> dict[Stream, tuple[Arm, Measurement]]:
    """Every distinct stream, with the first row that emitted it: it is audited once, whichever arms emitted it."""
    found: dict[Stream, tuple[Arm, Measurement]] = {}
    for arm in arms:
        for row in arm.measurements:
            found.setdefault(_stream(arm, row), (arm, row))
    return found


def _stream(arm: Arm, row: Measurement) -> Stream:
    return (arm.prompt_set, row.sample, row.token_ids)


def _with_rows(arm: Arm, entries: Iterable[MeasuredRow]) -> Arm:
    own = [entry for entry in entries if entry.arm == arm.name]
    return arm.replace(
        measurements=tuple(entry.row for entry in own if entry.counts),
        warm_ups=tuple(entry.row for entry in own if entry.warm_up),
        paused=tuple(PausedRow(row=entry.row, pause=entry.pause) for entry in own if entry.pause is not None),
    )


def _audits(arms: Iterable[Arm], entries: Iterable[Audited]) -> dict[Stream, AuditedStream]:
    by_row = {row_of(entry.arm, entry.stream): entry.stream for entry in entries}
    keys = {stream: row_of(arm.name, row) for stream, (arm, row) in distinct_streams(arms).items()}
    return {stream: by_row[key] for stream, key in keys.items() if key in by_row}


def _audit(arm: Arm, known: dict[Stream, AuditedStream]) -> StreamAudit | None:
    """The audit of an arm's streams; None as long as one of them was not audited."""
    own = distinct_streams([arm])
    if not own.keys() <= known.keys():
        return None
    streams = (
        known[stream].replace(sample=row.sample, repeat=row.repeat, process=row.process)
        for stream, (_, row) in own.items()
    )
    return StreamAudit(reference="verifier_native", streams=tuple(streams))


def _with_samples(result: KvQuantResult, entries: Sequence[MeasuredSample]) -> KvQuantResult:
    counted = [entry for entry in entries if entry.counts]
    rows = [{codec.arm: codec.row for codec in entry.codecs} for entry in counted]
    oracle = tuple(entry.oracle for entry in counted)
    return result.replace(
        oracle=oracle,
        oracle_recall=sum(row.correct for row in oracle) / len(oracle),
        arms=tuple(arm.replace(samples=tuple(row[arm.name] for row in rows)) for arm in result.arms),
        paused=tuple(
            PausedSample(oracle=entry.oracle, codecs=entry.codecs, pause=entry.pause)
            for entry in entries
            if entry.pause is not None
        ),
    )
