"""run(plan) -> Report: measures every arm on every prompt, writing each row down as it is made.

Measures only; what the rows are worth is for the gate, which this module does not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.clock import now
from harness.base.errors import UsageError
from harness.base.progress import Progress
from harness.engines.base import Block, DecodeLimit, Engine
from harness.engines.speculation import speculation
from harness.models.model_text import stop_rules
from harness.plans.plan import ArmPlan, RunPlan
from harness.plans.workload import workload_of
from harness.runs.journal import Journal
from harness.runs.loaded_verifier import Lab, open_lab
from harness.runs.new_report import new_report
from harness.runs.schedule import schedule
from reports.records.kv_memory import ArmMemory, MemoryTable
from reports.records.measurement import Arm, AuditedStream, Measurement, StopReason, StreamAudit
from reports.records.plan import PlanInfo, Run, Warmup
from reports.report import Report
from workloads.base import Prompt, StopPolicy, Workload

WARMUP_TOKENS = 4


@dataclass(frozen=True)
class Prepared:
    """Everything a timed run needs, made once before the first of them."""

    plan: RunPlan
    lab: Lab
    workload: Workload
    engines: dict[str, Engine]
    prompts: dict[tuple[str, int], Prompt]
    limit: DecodeLimit
    policy: StopPolicy


def run_preset(plan: RunPlan, out: Path, progress: Progress) -> Report:
    """Load the models of `plan`, then `run` it.

    Raises:
        ModelError: one is missing, damaged or of no kind that can be run. Otherwise as `run`.
    """
    progress(0, 1, f"loading {plan.preset.model}")
    verifier, *others = plan.preset.models()
    return run(plan, open_lab(verifier.name, others), out, progress)


def run(plan: RunPlan, lab: Lab, out: Path, progress: Progress) -> Report:
    """Measure `plan` on the verifier in `lab` and leave the finished report (without claims) at `out`.

    An unfinished report of the same run at `out` is taken up where it stopped.

    Raises:
        UsageError: the plan does not fit the model. OutputError: the report cannot be written.
        EngineError: an engine cannot do what its arm says.
    """
    prepared = prepare(plan, lab)
    lab.tell_unverified()
    journal = Journal.open(skeleton(prepared), out)
    runs = schedule(plan.arms, plan.preset.samples, plan.preset.repeats)
    done = journal.done
    left = [one for one in runs if (one.arm, one.sample, one.repeat) not in done]
    if left:
        progress(len(done), len(runs), "warming up")
        warmups = [_warm_up(prepared, arm) for arm in plan.arms if any(one.arm == arm.name for one in left)]
        if not done:
            journal.warmed(warmups)
    for index, one in enumerate(left):
        progress(len(done) + index, len(runs), f"{one.arm}, sample {one.sample}, repeat {one.repeat}")
        journal.add(one.arm, _measure(prepared, one, journal.next_order()))
    progress(len(runs), len(runs), "auditing streams")
    audits = _audit_all(prepared, journal.report)
    return journal.finish(audits, _memory(prepared, journal.report))


def prepare(plan: RunPlan, lab: Lab) -> Prepared:
    """Tokenise the prompts once and build every engine.

    Raises:
        UsageError: a prompt cannot be made, or an arm's exact layers do not exist in this model.
    """
    preset = plan.preset
    workload = workload_of(plan, lab.text)
    try:
        prompts = workload.prompts(lab.text)
    except ValueError as error:
        raise UsageError(f"preset {preset.name}: {error}") from error
    policy = StopPolicy(ignore_turn_stop=preset.ignore_turn_stop)
    return Prepared(
        plan=plan,
        lab=lab,
        workload=workload,
        engines={arm.name: lab.build(arm, preset.prefill_chunk) for arm in plan.arms},
        prompts={(prompt.prompt_set, prompt.sample): prompt for prompt in prompts},
        limit=DecodeLimit(preset.max_new_tokens, lab.text.stop_tokens(policy)),
        policy=policy,
    )


def skeleton(prepared: Prepared) -> Report:
    """The report of this run before anything was measured."""
    preset = prepared.plan.preset
    info = PlanInfo(
        samples=preset.samples,
        repeats=preset.repeats,
        order=(),
        max_new_tokens=preset.max_new_tokens,
        prefill_chunk=preset.prefill_chunk,
        stop=stop_rules(prepared.policy),
        complete=False,
    )
    arms = tuple(_describe(arm, prepared.engines[arm.name]) for arm in prepared.plan.arms)
    return new_report(prepared.plan, prepared.lab, prepared.workload, list(prepared.prompts.values()), info, arms=arms)


def _describe(arm: ArmPlan, engine: Engine) -> Arm:
    return Arm(
        name=arm.name,
        role=arm.role,
        engine=engine.name,
        system_under_test=arm.spec.label,
        prompt_set=arm.prompt_set,
        restoration=engine.restoration,
        drafter=engine.drafter,
        decode_loop=engine.decode_loop,
        timing_scope="stages",
        measurements=(),
    )


def _warm_up(prepared: Prepared, arm: ArmPlan) -> Warmup:
    """Run the shapes that will be timed once: a whole first prompt, then single tokens."""
    prompt = prepared.prompts[(arm.prompt_set, 0)]
    engine = prepared.engines[arm.name]
    session = engine.prefill(prompt.tokens)
    block = engine.drafter.block_size or 1 if engine.drafter is not None else 1
    for _ in engine.decode(session, DecodeLimit(WARMUP_TOKENS * block, {})):
        pass
    chunk = prepared.plan.preset.prefill_chunk
    shapes = {min(chunk, len(prompt.tokens)), len(prompt.tokens) % chunk or chunk, 1, block}
    return Warmup(arm=arm.name, runs=1, shapes=tuple(sorted(shapes)))


def _measure(prepared: Prepared, one: Run, order: int) -> Measurement:
    """One timed run: prefill, decode, then what the engine counted."""
    arm = next(arm for arm in prepared.plan.arms if arm.name == one.arm)
    prompt, engine = prepared.prompts[(arm.prompt_set, one.sample)], prepared.engines[one.arm]
    prepared.lab.reset_peak()
    start = now()
    session = engine.prefill(prompt.tokens)
    after_prefill = engine.stats(session)
    first_known = now()
    blocks: list[Block] = []
    for block in engine.decode(session, prepared.limit):
        blocks.append(block)
    end = now()
    stats = engine.stats(session)
    tokens = [session.first_token, *(token for block in blocks for token in block.tokens)]
    text = prepared.lab.text.answer_text(tokens)
    stages = after_prefill.restoration_s + after_prefill.aux_s
    return Measurement(
        sample=one.sample,
        repeat=one.repeat,
        order=order,
        prompt_digest=prompt.digest,
        prompt_tokens=len(prompt.tokens),
        token_ids=tuple(tokens),
        text=text,
        correct=prompt.scored(text),
        stop_reason=_stop_reason(tokens, prepared.limit),
        restoration_active=after_prefill.restored_positions > 0,
        restored_positions=stats.restored_positions,
        evicted_positions=stats.evicted_positions,
        restoration_s=after_prefill.restoration_s,
        aux_s=after_prefill.aux_s,
        prefill_s=first_known - start - stages,
        decode_s=end - first_known,
        e2e_s=end - start,
        decode_tokens=len(tokens) - 1,
        kv_bytes_prefill=after_prefill.kv_bytes,
        kv_bytes_decode=stats.kv_bytes,
        drafter_bytes_prefill=after_prefill.drafter_bytes if engine.drafter is not None else None,
        peak_bytes=prepared.lab.peak(),
        fallbacks=stats.fallbacks,
        decode_loop=engine.decode_loop,
        speculation=speculation(blocks) if engine.drafter is not None else None,
    )


def _stop_reason(tokens: Sequence[int], limit: DecodeLimit) -> StopReason:
    return limit.stop_tokens.get(tokens[-1], "length")


def _audit_all(prepared: Prepared, report: Report) -> dict[str, StreamAudit]:
    """Audit every distinct stream once, whichever arms emitted it."""
    known: dict[tuple[str, int, tuple[int, ...]], AuditedStream] = {}
    audits: dict[str, StreamAudit] = {}
    for arm in report.arms:
        streams: dict[tuple[str, int, tuple[int, ...]], AuditedStream] = {}
        for row in arm.measurements:
            assert row.token_ids is not None
            key = (arm.prompt_set, row.sample, row.token_ids)
            if key not in known:
                prompt = prepared.prompts[(arm.prompt_set, row.sample)]
                known[key] = prepared.lab.audit(prompt.tokens, row)
            streams.setdefault(key, known[key].replace(sample=row.sample, repeat=row.repeat))
        audits[arm.name] = StreamAudit(reference="verifier_native", streams=tuple(streams.values()))
    return audits


def _memory(prepared: Prepared, report: Report) -> MemoryTable | None:
    """The analytic table of every arm that bounds its cache, beside what its longest sample held."""
    tables: list[ArmMemory] = []
    for arm in report.arms:
        if arm.restoration is None or arm.restoration.mode == "none":
            continue
        longest = max(arm.measurements, key=lambda row: row.prompt_tokens or 0)
        tables.append(prepared.lab.formula(arm, longest))
    return MemoryTable(arms=tuple(tables)) if tables else None
