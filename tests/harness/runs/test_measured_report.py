"""From the lines of a journal to a report: rows in their arms, audits with their streams, what counts and what not."""

from harness.runs.measured_report import distinct_streams, measured_report, runs
from reports.journal import Audited, Entry, MeasuredRow, MeasuredSample, Resumed
from reports.records.codec_rows import ArmSample
from reports.records.measurement import Pause
from reports.records.plan import Resume
from reports.report import Report
from tests.gate.honest import Setup, honest_kv_quant, measured_niah

NIAH = measured_niah(Setup(samples=3, repeats=2))
assert NIAH.plan is not None
NIAH = NIAH.replace(plan=NIAH.plan.replace(warmups=None))
CODECS = honest_kv_quant(Setup(samples=3, repeats=1)).replace(claims=(), gate=None)
PAUSE = Pause(asleep_s=12.0, stops=0)


def bare(report: Report) -> Report:
    """The report before anything was measured."""
    assert report.plan is not None
    arms = tuple(arm.replace(measurements=(), stream_audit=None) for arm in report.arms)
    plan = report.plan.replace(warmups=None, order=(), complete=False)
    return report.replace(arms=arms, plan=plan)


def lines(report: Report) -> list[Entry]:
    """What a run that ends in this report writes down."""
    assert report.plan is not None
    rows = [MeasuredRow(arm=arm.name, row=row) for arm in report.arms for row in arm.measurements]
    audits = [
        Audited(arm=arm.name, stream=stream)
        for arm in report.arms
        if arm.stream_audit is not None
        for stream in arm.stream_audit.streams
    ]
    return [*sorted(rows, key=lambda one: one.row.order or 0), *audits]


def watched(report: Report) -> Report:
    """The report as of a run that watched for pauses, and had none, and noted no warm-up."""
    arms = tuple(arm.replace(paused=(), warm_ups=()) for arm in report.arms)
    return report.replace(arms=arms, machine=())


def test_what_was_written_down_is_the_report() -> None:
    made = measured_report(bare(NIAH), lines(NIAH))
    assert made.arms == watched(NIAH).arms
    assert made.plan == NIAH.plan
    assert list(runs(lines(NIAH))) == list(NIAH.plan.order or ())


def test_a_stream_is_audited_once_for_all_arms_and_repeats_that_emit_it() -> None:
    streams = distinct_streams(NIAH.arms)
    assert len(streams) < sum(len(arm.measurements) for arm in NIAH.arms)
    first = {(arm.name, row.sample, row.repeat) for arm, row in streams.values()}
    entries = [
        entry
        for entry in lines(NIAH)
        if not isinstance(entry, Audited) or (entry.arm, entry.stream.sample, entry.stream.repeat) in first
    ]
    assert len(entries) < len(lines(NIAH))
    assert measured_report(bare(NIAH), entries).arms == watched(NIAH).arms


def test_without_all_its_audits_an_arm_has_none() -> None:
    entries = [entry for entry in lines(NIAH) if not isinstance(entry, Audited)]
    assert {arm.stream_audit for arm in measured_report(bare(NIAH), entries).arms} == {None}


def test_a_paused_row_is_kept_and_counts_for_nothing() -> None:
    row = next(entry for entry in lines(NIAH) if isinstance(entry, MeasuredRow))
    made = measured_report(bare(NIAH), [row.replace(pause=PAUSE), *lines(NIAH)])
    assert made.plan == NIAH.plan
    paused = {arm.name: [(one.row, one.pause) for one in arm.paused or ()] for arm in made.arms}
    assert paused.pop(row.arm) == [(row.row, PAUSE)]
    assert not any(paused.values())


def test_warm_ups_are_kept_apart_and_change_nothing() -> None:
    """Also those of a process that was killed before its first row."""
    first = [entry for entry in lines(NIAH) if isinstance(entry, MeasuredRow)][:2]
    warm_ups = [one.replace(row=one.row.replace(order=None, decode_s=99.0), warm_up=True) for one in (*first, first[0])]
    made = measured_report(bare(NIAH), [*warm_ups, *lines(NIAH)])
    kept = {arm.name: arm.warm_ups for arm in made.arms}
    assert kept.pop(first[0].arm) == (warm_ups[0].row, warm_ups[2].row)
    assert kept.pop(first[1].arm) == (warm_ups[1].row,)
    assert set(kept.values()) == {()}
    bare_again = tuple(arm.replace(warm_ups=()) for arm in made.arms)
    assert made.replace(arms=bare_again) == measured_report(bare(NIAH), lines(NIAH))


def test_codec_samples_go_to_their_arms() -> None:
    result = CODECS.kv_quant
    assert result is not None
    empty = result.replace(
        oracle=(), oracle_recall=None, verdicts=(), arms=tuple(arm.replace(samples=()) for arm in result.arms)
    )
    samples = [
        MeasuredSample(
            oracle=oracle, codecs=tuple(ArmSample(arm=arm.name, row=arm.samples[number]) for arm in result.arms)
        )
        for number, oracle in enumerate(result.oracle)
    ]
    resume = Resume.model_validate_json('{"order": 1, "at": "2026-01-02T03:04:05Z"}')
    entries: list[Entry] = [samples[0], Resumed(resume=resume), samples[1].replace(pause=PAUSE), *samples[1:]]
    made = measured_report(CODECS.replace(kv_quant=empty), entries)
    assert made.kv_quant is not None
    assert (made.kv_quant.oracle, made.kv_quant.arms) == (result.oracle, result.arms)
    assert made.kv_quant.oracle_recall == sum(row.correct for row in result.oracle) / len(result.oracle)
    assert [(one.oracle, one.codecs, one.pause) for one in made.kv_quant.paused or ()] == [
        (samples[1].oracle, samples[1].codecs, PAUSE)
    ]
    assert made.plan is not None
    assert made.plan.resumes == (resume,)
