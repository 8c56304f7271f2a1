"""The predecessor's needle test, kind `k3_integrated_niah_acceptance_mac`, schema 1 and 2.

Seconds are rounded to 3 decimals, MB are 1e6 bytes. Its flags were copied from arguments: `restoration_active` is
derived from the numbers (see `observed`), `formula_matches_run` is not taken over as ours; both are kept as stated.
"""

from collections.abc import Iterator

from reports.engines import FUSED, INCREMENTAL, NATIVE_BASELINE
from reports.engines import ORACLE as ORACLE_ENGINE
from reports.importers.base import Importer, Source, mark, model_id, models_of, of_kind, parse_foreign, report_id
from reports.importers.k3_mac import needle_rows as rows
from reports.importers.k3_mac.needle_claims import CROSS, ORACLE, claims_of, memory_table
from reports.importers.k3_mac.needle_shapes import EvalMode, MacReport
from reports.records.measurement import Arm, DrafterInfo, Restoration
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import Provenance
from reports.report import Report

KIND = "k3_integrated_niah_acceptance_mac"
ENGINES: dict[EvalMode, str] = {
    "free_gen": "free-gen",
    "free_gen_incremental": INCREMENTAL.name,
    "free_gen_fused_specdecode": FUSED.name,
    "teacher_forced": "teacher-forced",
    "native_ar_baseline": NATIVE_BASELINE.name,
}


def _load(source: Source) -> Report:
    file = parse_foreign(MacReport, source.value)
    rows.check_consistent(file)
    config = file.config
    models = models_of({"verifier": config.verifier_path, "drafter": config.drafter_id, "f_theta": config.f_theta_dir})
    return Report(
        kind="niah",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, _notes(file), file.kind, file.schema_version),
        provenance=Provenance(models=models),
        workload=WorkloadInfo(
            name="niah",
            seed=config.seed,
            prompts=tuple(
                PromptRecord(sample=sample, token_count=count)
                for sample, count in enumerate(config.prompt_token_lens or ())
            ),
        ),
        plan=PlanInfo(
            samples=config.n_samples, max_new_tokens=config.max_new_tokens, prefill_chunk=config.prefill_chunk_size
        ),
        arms=(_cross_arm(file), *_oracle_arm(file)),
        memory=memory_table(file.memory),
        claims=tuple(claims_of(file)),
    )


def _cross_arm(file: MacReport) -> Arm:
    measured = file.throughput.k3_cross_model if file.throughput is not None else None
    stages = measured.stage_timings if measured is not None else None
    engine = ENGINES[file.config.eval_mode]
    measurements = tuple(rows.cross_rows(file))
    loops = {row.decode_loop for row in measurements}
    return Arm(
        name=CROSS,
        role="sut",
        engine=engine,
        system_under_test=file.results.k3_cross_model.system_under_test,
        restoration=_restoration(file),
        drafter=_drafter(file) if engine == FUSED.name else None,
        decode_loop=loops.pop() if len(loops) == 1 and stages else None,
        timing_scope=rows.timing_scope(measured),
        measurements=measurements,
        stated_rates=rows.stated_rates(file.throughput, CROSS),
    )


def _oracle_arm(file: MacReport) -> Iterator[Arm]:
    if file.results.oracle is None:
        return
    measured = file.throughput.oracle_native_ar if file.throughput is not None else None
    yield Arm(
        name=ORACLE,
        role="oracle",
        engine=ORACLE_ENGINE.name,
        decode_loop=measured.decode_loop if measured is not None else None,
        timing_scope=rows.timing_scope(measured),
        measurements=tuple(rows.oracle_rows(file)),
        stated_rates=rows.stated_rates(file.throughput, ORACLE),
    )


def _restoration(file: MacReport) -> Restoration | None:
    """As configured; whether it ran is the rows' business."""
    config = file.config
    if config.eval_mode == "native_ar_baseline" or config.native_baseline_bypass:
        mode = "none"
    elif config.identity_restore:
        mode = "identity"
    elif config.f_theta_dir is not None:
        mode = "f_theta"
    else:
        return None
    exact: list[int] | None = None
    if config.s5_exact_full_attn:
        s5 = file.memory.s5 if file.memory is not None else None
        exact = (s5.exact_layer_indices if s5 is not None else None) or config.full_attention_layers
    elif config.s5_exact_full_attn is False:
        exact = []
    return Restoration.model_validate(
        {
            "mode": mode,
            "exact_layers": tuple(sorted(exact)) if exact is not None else None,
            "sink": config.sink_size,
            "window": config.window_size,
        }
    )


def _drafter(file: MacReport) -> DrafterInfo | None:
    if file.config.drafter_id is None:
        return None
    fused = rows.fused_parts(file)
    runtimes = {part.drafter_runtime for part in fused}
    graphs = {part.single_fused for part in fused}
    single = graphs.pop() if len(graphs) == 1 else None
    return DrafterInfo(
        name=model_id(file.config.drafter_id),
        runtime=runtimes.pop() if len(runtimes) == 1 else None,
        block_size=file.config.block_size,
        graph=None if single is None else "single" if single else "two_phase",
    )


def _notes(file: MacReport) -> Iterator[str]:
    config, memory, throughput = file.config, file.memory, file.throughput
    yield "derived: restoration_active, false where restoring, capturing and drafting took no time; the flag is stated"
    yield "derived: K/V of a full cache, from the layers of the formula; formula_matches_run is kept as stated only"
    yield "as the tool counts: decode_tokens includes the first token, and the stop token if one was emitted"
    yield "restoration is what was configured; drafted, accepted and committed tokens a block are not recorded"
    yield "not recorded: order of runs, repeats, prompt and weight digests, token ids of the oracle, stop reasons"
    yield "not recorded: measured K/V bytes, restored and evicted positions, eviction rule, controls, stream audit"
    if config.decode_warmup_tokens is not None:
        yield f"stated: {config.decode_warmup_tokens} warm-up tokens, shapes not recorded"
    if memory is not None and memory.measured_peak_mb is not None:
        yield f"stated: measured_peak_mb {memory.measured_peak_mb}, of the whole process with all arms"
    modes = sorted({part.adaptive_mode for part in rows.fused_parts(file) if part.adaptive_mode is not None})
    if modes:
        yield f"stated: adaptive_mode {', '.join(modes)}"
    for reason in (throughput.speedup_withheld_reasons if throughput is not None else None) or ():
        yield f"the tool itself withheld its speed-up: {reason}"
    for violation in (file.gate.evidence_violations if file.gate is not None else None) or ():
        yield f"the tool itself found: {violation.code}"


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
