"""One process of a timed run: loads the models, measures every arm on every prompt, writes each row down as it is made.

Measures only; what the rows are worth is for the gate, which this module does not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.clock import to_nanoseconds
from harness.base.errors import OutputError
from harness.base.machine.watch import MachineWatch
from harness.base.pauses import PauseWatch, watching
from harness.base.progress import Progress
from harness.engines.base import Block, DecodeLimit, Engine, ServedEngine
from harness.engines.others import others_faults
from harness.engines.speculation import speculation
from harness.models.model_text import stop_rules
from harness.plans.plan import ArmPlan, RunPlan
from harness.plans.workload import ask, workload_of
from harness.runs.journal import Journal
from harness.runs.loaded.loaded_models import LoadedModels
from harness.runs.loaded.loading import load_preset_models
from harness.runs.measured_report import distinct_streams, measured_report, row_of, runs
from harness.runs.new_report import new_report
from harness.runs.output_lock import writing
from reports.engines import HTTP
from reports.journal import Audited, Computed, MeasuredRow, Read
from reports.records.kv_memory import ArmMemory, MemoryTable
from reports.records.measurement import Arm, Measurement, StopReason
from reports.records.plan import PlanInfo, Run
from reports.report import Report
from workloads.base import Prompt, StopPolicy, Workload

WARMUP_TOKENS = 4


@dataclass(frozen=True)
class Prepared:
    """Everything a timed run needs, made once before the first of them."""

    plan: RunPlan
    loaded: LoadedModels
    workload: Workload
    engines: dict[str, Engine]
    prompts: dict[tuple[str, int], Prompt]
    limit: DecodeLimit
    policy: StopPolicy

    def arm(self, name: str) -> ArmPlan:
        """The arm of that name."""
        return next(arm for arm in self.plan.arms if arm.name == name)


def run_process(plan: RunPlan, out: Path, process: int, progress: Progress) -> None:
    """Load the models and measure what is left of one process of `plan`, then audit streams that were not before.

    The last process before any look also writes down what caches should have held by formula. Every line goes into the
    journal of the report that is to be at `out`.

    Raises:
        UsageError: the plan does not fit the model. OutputError: the journal cannot be written.
        ModelError: a model is missing, damaged or of no kind that can be run.
        EngineError: an engine cannot do what its arm says. CannotRunError: the machine does not stay awake.
    """
    watch = MachineWatch(process)
    idle = watch.reading("before")
    planned = plan.runs()
    each = len(planned) // plan.processes
    before = each * process
    progress(before, len(planned), f"loading {plan.preset.model}{_shown(plan, process)}")
    prepared = prepare(plan, load_preset_models(plan.preset))
    with writing(out), Journal.open(skeleton(prepared), out, before) as journal:
        done = _done(journal, planned)  # before a line is added: nothing is, to rows that are not this run's
        journal.append(Read(reading=idle))
        if not journal.measured:
            prepared.loaded.tell_unverified()
        _measure_left(prepared, planned, process, done, journal, progress)
        progress(before + each, len(planned), "auditing streams")
        _audit(prepared, journal)
        journal.append(Read(reading=watch.reading("after")))
        if process == plan.preset.processes - 1:
            _write_memory(prepared, journal)


def _measure_left(
    prepared: Prepared, planned: Sequence[Run], process: int, done: int, journal: Journal, progress: Progress
) -> None:
    """Warm up the arms that have runs left in this process, then measure those."""
    plan = prepared.plan
    left = [one for one in planned[done:] if one.process == process]
    shown = _shown(plan, process)
    with watching() as watch:
        cold = [arm for arm in plan.arms if any(one.arm == arm.name for one in left)]
        for number, arm in enumerate(cold):
            progress(number, len(cold), f"warming up {arm.name}: runs that are not timed{shown}")
            _warm_up(prepared, arm, process, journal)
        for order, one in enumerate(left, start=done):
            progress(order, len(planned), f"{one.arm}, sample {one.sample}, repeat {one.repeat}{shown}")
            _measure_once(prepared, one, order, journal, watch)


def _shown(plan: RunPlan, process: int) -> str:
    count = plan.processes
    return f", process {process + 1} of {count}" if count > 1 else ""


def _done(journal: Journal, planned: Sequence[Run]) -> int:
    """Timed runs that the journal has already: the first ones, each with its stream."""
    rows = [entry.row for entry in journal.of(MeasuredRow) if entry.counts]
    whole = all(row.order == place and row.token_ids for place, row in enumerate(rows))
    if not whole or list(runs(journal.entries)) != list(planned[: len(rows)]):
        raise OutputError(f"{journal.path}: its rows are not the first of this run; choose another --out")
    return len(rows)


def prepare(plan: RunPlan, loaded: LoadedModels) -> Prepared:
    """Tokenise the prompts once and build every engine.

    Raises:
        UsageError: a prompt cannot be made, or an arm's exact layers do not exist in this model.
    """
    preset = plan.preset
    workload = workload_of(plan, loaded.text)
    prompts = ask(workload, loaded.text, preset)
    policy = StopPolicy(ignore_turn_stop=preset.ignore_turn_stop)
    return Prepared(
        plan=plan,
        loaded=loaded,
        workload=workload,
        engines={arm.name: loaded.build(arm, preset.prefill_chunk, preset.max_new_tokens) for arm in plan.arms},
        prompts={(prompt.prompt_set, prompt.sample): prompt for prompt in prompts},
        limit=DecodeLimit(preset.max_new_tokens, loaded.text.stop_tokens(policy)),
        policy=policy,
    )


def skeleton(prepared: Prepared) -> Report:
    """The report of this run before anything was measured."""
    preset = prepared.plan.preset
    info = PlanInfo(
        samples=preset.samples,
        repeats=preset.repeats,
        processes=preset.processes,
        stopping=preset.stopping,
        order=(),
        order_seed=preset.seed,
        max_new_tokens=preset.max_new_tokens,
        prefill_chunk=preset.prefill_chunk,
        stop=stop_rules(prepared.policy),
        complete=False,
    )
    arms = tuple(_describe(arm, prepared.engines[arm.name]) for arm in prepared.plan.arms)
    told = [model for one in prepared.engines.values() if isinstance(one, ServedEngine) for model in one.models]
    loaded = replace(prepared.loaded, models=tuple(dict.fromkeys((*prepared.loaded.models, *told))))
    return new_report(prepared.plan, loaded, prepared.workload, list(prepared.prompts.values()), info, arms=arms)


def _describe(arm: ArmPlan, engine: Engine) -> Arm:
    return Arm(
        name=arm.name,
        role=arm.role,
        engine=engine.kind.name,
        system_under_test=arm.spec.label,
        prompt_set=arm.prompt_set,
        restoration=engine.restoration,
        drafter=engine.drafter,
        decode_loop=engine.kind.decode_loop,
        timing_scope="client_stream" if engine.kind == HTTP else "stages",
        served_by=engine.served_by if isinstance(engine, ServedEngine) else None,
        measurements=(),
    )


def _warm_up(prepared: Prepared, arm: ArmPlan, process: int, journal: Journal) -> None:
    """Run the shapes that will be timed once: a whole first prompt, then blocks. The row counts for nothing."""
    drafter = prepared.engines[arm.name].drafter
    block = drafter.block_size or 1 if drafter is not None else 1
    one = Run(arm=arm.name, sample=0, repeat=0, process=process)
    row = measure(prepared, one, None, DecodeLimit(WARMUP_TOKENS * block, {}))
    journal.append(MeasuredRow(arm=arm.name, row=row, warm_up=True))


def _measure_once(prepared: Prepared, one: Run, order: int, journal: Journal, watch: PauseWatch) -> None:
    """Measure a run until no pause falls into it, warming up anew after one; what it fell into is kept, too."""
    watch.measure(
        lambda: measure(prepared, one, order, prepared.limit),
        lambda row, pause: journal.append(MeasuredRow(arm=one.arm, row=row, pause=pause)),
        lambda: _warm_up(prepared, prepared.arm(one.arm), one.process, journal),
    )


def measure(prepared: Prepared, one: Run, order: int | None, limit: DecodeLimit) -> Measurement:
    """One run: prefill, decode, and what the engine counted after each. A warm-up has no `order` among timed runs.

    Decode is timed from the first token's being known to the last one's. Counting what prefill left falls into it in
    every arm alike; it reads shapes and sums, and no engine waits for anything there.
    """
    arm = prepared.arm(one.arm)
    with others_faults(arm.spec):
        return _row(prepared, arm, one, order, limit)


def _row(prepared: Prepared, arm: ArmPlan, one: Run, order: int | None, limit: DecodeLimit) -> Measurement:
    prompt, engine = prepared.prompts[(arm.prompt_set, one.sample)], prepared.engines[one.arm]
    now = prepared.loaded.now
    prepared.loaded.reset_peak()
    start = now()
    session = engine.prefill(prompt.tokens)
    first_known = now()
    after_prefill = engine.stats(session)
    blocks: list[Block] = []
    for block in engine.decode(session, limit):
        blocks.append(block)
    end = now()
    stats = engine.stats(session)
    tokens = [session.first_token, *(token for block in blocks for token in block.tokens)]
    text = prepared.loaded.text.answer_text(tokens)
    stages = after_prefill.restoration_s + after_prefill.aux_s
    return Measurement(
        sample=one.sample,
        repeat=one.repeat,
        process=one.process,
        order=order,
        prompt_digest=prompt.digest,
        prompt_tokens=len(prompt.tokens),
        token_ids=tuple(tokens),
        text=text,
        correct=prompt.scored(text),
        stop_reason=_stop_reason(tokens, limit),
        restoration_active=None if after_prefill.restored_positions is None else after_prefill.restored_positions > 0,
        restored_positions=stats.restored_positions,
        evicted_positions=stats.evicted_positions,
        restoration_s=to_nanoseconds(after_prefill.restoration_s),
        aux_s=to_nanoseconds(after_prefill.aux_s),
        prefill_s=to_nanoseconds(first_known - start - stages),
        decode_s=to_nanoseconds(end - first_known),
        e2e_s=to_nanoseconds(end - start),
        round_trip=stats.round_trip,
        served_tokens=stats.served_tokens,
        decode_tokens=len(tokens) - 1,
        kv_bytes_prefill=after_prefill.kv_bytes,
        kv_bytes_decode=stats.kv_bytes,
        drafter_bytes_prefill=after_prefill.drafter_bytes if engine.drafter is not None else None,
        peak_bytes=None if isinstance(engine, ServedEngine) else prepared.loaded.peak(),
        fallbacks=stats.fallbacks,
        decode_loop=engine.kind.decode_loop,
        speculation=speculation(blocks) if engine.drafter is not None else None,
    )


def _stop_reason(tokens: Sequence[int], limit: DecodeLimit) -> StopReason:
    return limit.stop_tokens.get(tokens[-1], "length")


def _audit(prepared: Prepared, journal: Journal) -> None:
    """Audit every distinct stream that was not audited before."""
    report = measured_report(journal.skeleton, journal.entries)
    audited = {row_of(entry.arm, entry.stream) for entry in journal.of(Audited)}
    for arm, row in distinct_streams(report.arms).values():
        if row_of(arm.name, row) not in audited:
            prompt = prepared.prompts[(arm.prompt_set, row.sample)]
            journal.append(Audited(arm=arm.name, stream=prepared.loaded.audit(prompt.tokens, row)))


def _write_memory(prepared: Prepared, journal: Journal) -> None:
    """The analytic table of every arm that bounds its cache, beside what its longest sample held; once."""
    if journal.of(Computed):
        return
    tables: list[ArmMemory] = []
    for arm in measured_report(journal.skeleton, journal.entries).arms:
        if arm.restoration is None or arm.restoration.mode == "none":
            continue
        longest = max(arm.measurements, key=lambda row: row.prompt_tokens or 0)
        tables.append(prepared.loaded.formula(arm, longest))
    if tables:
        journal.append(Computed(memory=MemoryTable(arms=tuple(tables))))
