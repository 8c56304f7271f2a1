"""Rows of a codec run again: the plain model and the drawn codecs on every drawn sample, over K/V captured anew."""

from harness.base.errors import EngineError
from harness.base.progress import Progress
from harness.plans.codec_preset import CodecPlan
from harness.plans.plan import Plan
from harness.replay.outcome import Again, DrawnRows, Outcome, not_run
from harness.runs.codec_run import PreparedCodecs, prepare
from harness.runs.loaded.loading import load_models
from reports.records.codec_rows import CodecSample, OracleSample
from reports.replays.draw import Drawn
from reports.replays.population import ORACLE
from reports.untrusted.number_of import number_of


def run_again(plan: Plan, drawn: DrawnRows, progress: Progress) -> Again:
    """Every drawn row, a sample at a time. Raises: as `harness.replay.timed_rows.run_again`."""
    assert isinstance(plan, CodecPlan)
    progress(0, len(drawn), f"loading {plan.preset.model}")
    prepared = prepare(plan, load_models(plan.preset.model))
    by_sample: dict[int, list[Drawn]] = {}
    for one, original in drawn.items():
        assert isinstance(original, (OracleSample, CodecSample))
        by_sample.setdefault(original.sample, []).append(one)
    outcomes: dict[Drawn, Outcome] = {}
    for sample, rows in by_sample.items():
        progress(len(outcomes), len(drawn), f"sample {sample}, {number_of(len(rows), 'row')}")
        outcomes |= _sample(prepared, sample, rows)
    return Again(prepared.skeleton, outcomes)


def _sample(prepared: PreparedCodecs, sample: int, rows: list[Drawn]) -> dict[Drawn, Outcome]:
    known = {ORACLE, *(arm.name for arm in prepared.arms.described)}
    outcomes = {one: not_run(f"{one.arm} is no codec of the preset here") for one in rows if one.arm not in known}
    if sample >= prepared.preset.samples:
        return {one: not_run(f"the preset has no sample {sample}") for one in rows}
    try:
        measured = prepared.measure(sample, {one.arm for one in rows})
    except EngineError as error:
        return {one: not_run(error) for one in rows}
    found: dict[str, OracleSample | CodecSample] = {one.arm: one.row for one in measured.codecs}
    found[ORACLE] = measured.oracle
    return outcomes | {one: Outcome(found[one.arm]) for one in rows if one.arm in known}
