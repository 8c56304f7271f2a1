"""A simulated run of all arms, in the order that a real one has."""

from collections.abc import Sequence
from datetime import UTC, datetime

from reports.engines import ENGINES
from reports.records.kv_memory import MemoryTable
from reports.records.measurement import Arm, AuditedStream, Measurement, StreamAudit
from reports.records.plan import PlanInfo, PresetInfo, PromptRecord, Run, StopRules, Warmup
from reports.records.provenance import ModelInfo
from reports.report import Kind, Report
from reports.schedule import ScheduledArm, schedule
from tests.gate.honest.kv_memory import memory_table
from tests.gate.honest.machine import provenance
from tests.gate.honest.prompts import workload_of
from tests.gate.honest.recipes import Recipe
from tests.gate.honest.rows import measured_row
from tests.gate.honest.setup import Setup, digest

ORDER_SEED = 42


def assemble(
    kind: Kind,
    setup: Setup,
    recipes: Sequence[Recipe],
    prompts: Sequence[PromptRecord],
    models: tuple[ModelInfo, ...],
    *,
    stops: bool,
) -> Report:
    """The report of all recipes over all prompts; `stops`: streams may end before the budget."""
    order = _schedule(recipes, setup)
    by_name = {recipe.name: recipe for recipe in recipes}
    by_key = {(prompt.prompt_set, prompt.sample): prompt for prompt in prompts}
    rows: dict[str, list[Measurement]] = {recipe.name: [] for recipe in recipes}
    for position, run in enumerate(order):
        recipe = by_name[run.arm]
        slowed = 1 + setup.drift * position / max(1, len(order) - 1)
        rows[run.arm].append(measured_row(recipe, setup, run, position, by_key[recipe.prompt_set, run.sample], slowed))
    arms = tuple(_arm(recipe, rows[recipe.name]) for recipe in recipes)
    tables = [memory_table(arm) for arm in arms if arm.restoration is not None and arm.restoration.mode != "none"]
    plan_digest = digest(f"plan/{setup!r}")
    return Report(
        kind=kind,
        report_id=f"{kind}-{plan_digest[7:19]}-20261129T161000Z",
        created_at=datetime(2026, 11, 29, 16, 10, tzinfo=UTC),
        preset=PresetInfo(name=kind, digest=digest(kind)),
        provenance=provenance(models),
        workload=workload_of(kind, setup, prompts),
        plan=PlanInfo(
            digest=plan_digest,
            samples=setup.samples,
            repeats=setup.repeats,
            processes=setup.processes if setup.processes > 1 else None,
            order=order,
            order_seed=ORDER_SEED,
            warmups=tuple(Warmup(arm=recipe.name, runs=1, shapes=(1, 108, 512)) for recipe in recipes),
            max_new_tokens=setup.max_new_tokens,
            prefill_chunk=512,
            stop=StopRules(eos=stops, ignore_turn_stop=not stops),
            complete=True,
        ),
        arms=arms,
        memory=MemoryTable(arms=tuple(tables)) if tables else None,
    )


def _schedule(recipes: Sequence[Recipe], setup: Setup) -> tuple[Run, ...]:
    arms = [ScheduledArm(recipe.name, recipe.repeats or setup.repeats) for recipe in recipes]
    return tuple(
        run
        for process in range(setup.processes)
        for run in schedule(arms, samples=setup.samples, repeats=setup.repeats, process=process, seed=ORDER_SEED)
    )


def _arm(recipe: Recipe, rows: Sequence[Measurement]) -> Arm:
    seen: dict[tuple[int, tuple[int, ...] | None], AuditedStream] = {}
    for row in rows:
        stream = recipe.say(row.sample)
        audited = AuditedStream(
            sample=row.sample,
            repeat=row.repeat,
            tokens_checked=len(stream.token_ids),
            mismatches=stream.mismatches,
        )
        seen.setdefault((row.sample, row.token_ids), audited)
    return Arm(
        name=recipe.name,
        role=recipe.role,
        engine=recipe.engine,
        system_under_test=recipe.label,
        prompt_set=recipe.prompt_set,
        restoration=recipe.restoration,
        drafter=recipe.drafter,
        decode_loop=ENGINES[recipe.engine].decode_loop,
        timing_scope="stages",
        measurements=tuple(rows),
        stream_audit=StreamAudit(reference="verifier_native", streams=tuple(seen.values())),
    )
