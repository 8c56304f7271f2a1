"""Builds complete, honest schema-2 reports from a small simulation of times, for the tests of the gate.

Everything is seeded: the same `Setup` gives the same report, byte for byte. `measured_*` give a report as a run leaves
it (rows, no claims), `honest_*` the same after `gate.judging.judge.conclude`.
"""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import UTC, datetime

from gate.judging.judge import conclude
from reports.records.codec_rows import (
    CodecArm,
    CodecSample,
    HeldOut,
    KvQuantResult,
    LayerEnergy,
    LayerError,
    OracleSample,
    SecondQuestion,
    StatedCodecVerdict,
    weighted_errors,
)
from reports.records.drafter_parity import ParityBlock, ParityResult
from reports.records.kv_memory import ArmMemory, LayerMemory, MemoryTable
from reports.records.measurement import (
    NATIVE_BASELINE_LABEL,
    Arm,
    AuditedStream,
    Block,
    DrafterInfo,
    Measurement,
    Mismatch,
    PromptSet,
    Restoration,
    Role,
    Speculation,
    StopReason,
    StreamAudit,
)
from reports.records.plan import PlanInfo, PresetInfo, PromptRecord, Run, StopRules, Warmup, WorkloadInfo
from reports.records.provenance import Faithfulness, Host, ModelInfo, Package, Provenance, Source
from reports.report import Kind, Report

LAYERS = 30
BYTES_PER_LAYER_TOKEN = 1536
SINK, WINDOW = 4, 64
F_THETA = "f-theta-smollm2"
PREFILL_S_PER_TOKEN = 0.0008
STEP_S = 0.06
END_OF_TURN = 2
CAPTURED = 3
"""Layers whose K/V a codec run captures."""
DRAFT_DEPTH = 7
NATIVE = Restoration(mode="none")
_PREFIXES = ("ALPHA", "BETA", "GAMMA", "DELTA", "KAPPA", "SIGMA", "THETA", "OMEGA", "LAMBDA", "ZETA")
_NAMES = ("value", "index", "total", "item", "size", "name", "key", "rows", "part", "left", "right", "state")
_CALLS = ("len", "sum", "sorted", "list", "int", "repr", "max", "min", "tuple", "next")
_WRONG = ("the north gate", "a paper map", "the stone well", "the small tower", "a long rope", "the empty hall")


@dataclass(frozen=True)
class Setup:
    """The space of honest reports.

    `speedup` and `ngram_speedup` are the true speed-ups of the fused arms; `noise` is the sigma of the logarithm of
    a run's times, `drift` how much slower the last run is than the first (0.05: by 5 %). `suts` names the systems
    under test of a needle report: any of identity, f_theta, native; `draft_arms` those of a throughput report: any of
    dflash, ngram, native. `acceptance` is the chance of each draft, `ngram_share` how often the text holds a draft.
    `prompt_tokens` is the mean prompt length.
    """

    samples: int = 5
    repeats: int = 3
    seed: int = 0
    speedup: float = 1.6
    ngram_speedup: float = 1.25
    noise: float = 0.02
    drift: float = 0.0
    max_new_tokens: int = 48
    prompt_tokens: int = 620
    suts: tuple[str, ...] = ("identity",)
    acceptance: float = 0.65
    draft_arms: tuple[str, ...] = ("dflash", "ngram")
    ngram_share: float = 0.4


@dataclass(frozen=True)
class Stream:
    """What an arm says to one prompt; `mismatches` are places where it is not the verifier's own choice."""

    token_ids: tuple[int, ...]
    text: str
    stop_reason: StopReason
    correct: bool | None = None
    mismatches: tuple[Mismatch, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """An arm to simulate. `say(sample)` is its stream; `step` scales the seconds of a decode step."""

    name: str
    role: Role
    engine: str
    loop: str
    say: Callable[[int], Stream]
    label: str | None = None
    prompt_set: PromptSet = "main"
    restoration: Restoration = NATIVE
    drafter: DrafterInfo | None = None
    step: float = 1.0
    repeats: int | None = None


def honest_niah(setup: Setup | None = None) -> Report:
    """A judged needle report: oracle twice, systems under test, ablated control, needle-free control."""
    return conclude(measured_niah(setup or Setup()))


def honest_code(setup: Setup | None = None) -> Report:
    """A judged throughput report: oracle twice, a DFlash arm (with its parity) and a prompt-lookup arm."""
    return conclude(measured_code(setup or Setup()))


def honest_parity(setup: Setup | None = None) -> Report:
    """A judged parity report: two runtimes of one drafter agree on every token."""
    return conclude(measured_parity(setup or Setup()))


def honest_kv_quant(setup: Setup | None = None) -> Report:
    """A judged codec report: identity is clean, affine 4 is the reference, a lattice beats it, another does not."""
    return conclude(measured_kv_quant(setup or Setup()))


# --- needle in a haystack


def measured_niah(setup: Setup) -> Report:
    """A needle report before judgement."""
    rng = random.Random(f"niah/{setup.seed}")
    answers = [f"{rng.choice(_PREFIXES)}-{rng.randint(1000, 9999)}" for _ in range(setup.samples)]
    wrong = [rng.choice(_WRONG) for _ in range(setup.samples)]
    free = [rng.choice(_WRONG) for _ in range(setup.samples)]

    def right(sample: int) -> Stream:
        return _answer(answers[sample], correct=True)

    def lost(sample: int) -> Stream:
        return _diverged(_answer(wrong[sample], correct=False), right(sample))

    recipes = [
        *_oracles(right),
        *(_needle_sut(name, right) for name in setup.suts),
        Recipe("ablate", "control", "incremental", "incremental_step", lost, restoration=_bounded("ablate")),
        Recipe(
            "needle_free", "control", "ar", "generate_step", lambda sample: _answer(free[sample], correct=False),
            prompt_set="needle_free", repeats=1,
        ),
    ]  # fmt: skip
    prompts = _prompts(setup, answers, ("main", "needle_free"))
    f_theta = (_model("f_theta", F_THETA),) if "f_theta" in setup.suts else ()
    return _assemble("niah", setup, recipes, prompts, f_theta, stops=True)


def _needle_sut(name: str, right: Callable[[int], Stream]) -> Recipe:
    if name == "native":
        return _native(right)
    if name == "identity":
        mode, label = _bounded("identity"), "k3 incremental, identity restoration"
    else:
        mode, label = _bounded("f_theta", "transient"), "k3 incremental, f_theta restoration"
    return Recipe(name, "sut", "incremental", "incremental_step", right, label=label, restoration=mode, step=1.03)


def _native(say: Callable[[int], Stream]) -> Recipe:
    """A plain loop over the native cache, a tenth slower than the oracle's, and labelled as a baseline."""
    return Recipe("native", "sut", "native-baseline", "native_step", say, label=NATIVE_BASELINE_LABEL, step=1.1)


def _bounded(mode: str, residency: str = "resident") -> Restoration:
    return Restoration.model_validate(
        {
            "mode": mode,
            "exact_layers": (),
            "sink": SINK,
            "window": WINDOW,
            "eviction": "strict",
            "residency": residency if mode != "ablate" else None,
            "weights": _digest(F_THETA) if mode == "f_theta" else None,
        }
    )


def _answer(text: str, *, correct: bool) -> Stream:
    pieces = [text[i : i + 3] for i in range(0, len(text), 3)]
    return Stream((*_ids(pieces), END_OF_TURN), text, "eos", correct)


def _diverged(stream: Stream, truth: Stream) -> Stream:
    """The stream with the audit of a lossy arm: where the verifier, given the same prefix, would have said else."""
    mismatch = Mismatch(position=0, emitted=stream.token_ids[0], argmax=truth.token_ids[0], gap=3.75)
    return replaced(stream, mismatches=(mismatch,))


# --- code


def measured_code(setup: Setup) -> Report:
    """A throughput report before judgement."""

    def say(sample: int) -> Stream:
        rng = random.Random(f"code/{setup.seed}/{sample}")
        pieces = [piece for _ in range(setup.max_new_tokens) for piece in _line(rng)][: setup.max_new_tokens]
        return Stream(_ids(pieces), "".join(pieces), "length")

    recipes = [*_oracles(say), *(_code_sut(name, say) for name in setup.draft_arms)]
    prompts = _prompts(setup, [None] * setup.samples, ("main",))
    drafter = (_model("drafter", "dflash-smollm2"),) if "dflash" in setup.draft_arms else ()
    report = _assemble("code", setup, recipes, prompts, drafter, stops=False)
    return report.replace(parity=_parity(setup)) if drafter else report


def _code_sut(name: str, say: Callable[[int], Stream]) -> Recipe:
    if name == "native":
        return _native(say)
    dflash = name == "dflash"
    info = DrafterInfo(
        name="dflash" if dflash else "ngram",
        weights=_digest("dflash-smollm2") if dflash else None,
        runtime="mlx" if dflash else "python",
        dtype="float32" if dflash else None,
        block_size=DRAFT_DEPTH + 1,
        rollback="trim",
        graph="two_phase",
    )
    return Recipe(f"fused_{name}", "sut", "fused", "fused_block", say, label=f"k3 fused, {info.name}", drafter=info)


def _line(rng: random.Random) -> list[str]:
    target, call, argument = rng.choice(_NAMES), rng.choice(_CALLS), rng.choice(_NAMES)
    return ["    ", target, " =", f" {call}", "(", argument, ")", "\n"]


# --- runs


def _oracles(say: Callable[[int], Stream]) -> list[Recipe]:
    return [
        Recipe("oracle", "oracle", "ar", "generate_step", say),
        Recipe("oracle_again", "null", "ar", "generate_step", say),
    ]


def _assemble(
    kind: Kind,
    setup: Setup,
    recipes: Sequence[Recipe],
    prompts: Sequence[PromptRecord],
    models: tuple[ModelInfo, ...],
    *,
    stops: bool,
) -> Report:
    order = _schedule(recipes, setup)
    by_name = {recipe.name: recipe for recipe in recipes}
    by_key = {(prompt.prompt_set, prompt.sample): prompt for prompt in prompts}
    rows: dict[str, list[Measurement]] = {recipe.name: [] for recipe in recipes}
    for position, run in enumerate(order):
        recipe = by_name[run.arm]
        slowed = 1 + setup.drift * position / max(1, len(order) - 1)
        rows[run.arm].append(_row(recipe, setup, run, position, by_key[recipe.prompt_set, run.sample], slowed))
    arms = tuple(_arm(recipe, rows[recipe.name]) for recipe in recipes)
    tables = [_memory(arm) for arm in arms if arm.restoration is not None and arm.restoration.mode != "none"]
    preset = "niah-smollm2" if kind == "niah" else "code-smollm2"
    return Report(
        kind=kind,
        report_id=f"{preset}-{_digest(repr(setup))[7:19]}-20261129T161000Z",
        created_at=datetime(2026, 11, 29, 16, 10, tzinfo=UTC),
        preset=PresetInfo(name=preset, digest=_digest(preset)),
        provenance=provenance(models),
        workload=_workload(kind, setup, prompts),
        plan=PlanInfo(
            digest=_digest(f"plan/{setup!r}"),
            samples=setup.samples,
            repeats=setup.repeats,
            order=tuple(order),
            warmups=tuple(Warmup(arm=recipe.name, runs=1, shapes=(1, 108, 512)) for recipe in recipes),
            max_new_tokens=setup.max_new_tokens,
            prefill_chunk=512,
            stop=StopRules(eos=stops, ignore_turn_stop=not stops),
            complete=True,
        ),
        arms=arms,
        memory=MemoryTable(arms=tuple(tables)) if tables else None,
    )


def _schedule(recipes: Sequence[Recipe], setup: Setup) -> list[Run]:
    order = []
    for repeat in range(setup.repeats):
        for sample in range(setup.samples):
            present = [recipe for recipe in recipes if repeat < (recipe.repeats or setup.repeats)]
            if (sample + repeat) % 2:
                present.reverse()
            order += [Run(arm=recipe.name, sample=sample, repeat=repeat) for recipe in present]
    return order


def _row(recipe: Recipe, setup: Setup, run: Run, position: int, prompt: PromptRecord, slowed: float) -> Measurement:
    rng = random.Random(f"{setup.seed}/{run.arm}/{run.sample}/{run.repeat}")
    pace = slowed * rng.lognormvariate(0, setup.noise)
    stream = recipe.say(run.sample)
    assert prompt.token_count is not None
    tokens, steps = prompt.token_count, len(stream.token_ids) - 1
    mode, bounded = recipe.restoration.mode, recipe.restoration.mode != "none"
    evicted = LAYERS * (tokens - SINK - WINDOW) if bounded else 0
    restored = evicted if mode in ("identity", "f_theta") else 0
    speculation = _speculate(recipe, setup, rng, steps, pace) if recipe.drafter is not None else None
    rounds = speculation.rounds or () if speculation is not None else ()
    decode_s = _us(sum(block.seconds for block in rounds) + 4e-6 * len(rounds) or steps * STEP_S * recipe.step * pace)
    restoration_s = _us(restored * 1.2e-6 * pace)
    aux_s = _us(tokens * 2e-5 * pace) if mode == "f_theta" or _conditioned(recipe) else 0.0
    prefill_s = _us(tokens * PREFILL_S_PER_TOKEN * slowed * rng.lognormvariate(0, setup.noise))
    held = [_kv_bytes(recipe.restoration, tokens), _kv_bytes(recipe.restoration, tokens + steps)]
    return Measurement(
        sample=run.sample,
        repeat=run.repeat,
        order=position,
        prompt_digest=prompt.digest,
        prompt_tokens=tokens,
        token_ids=stream.token_ids,
        text=stream.text,
        correct=stream.correct,
        stop_reason=stream.stop_reason,
        restoration_active=restored > 0,
        restored_positions=restored,
        evicted_positions=evicted,
        restoration_s=restoration_s,
        aux_s=aux_s,
        prefill_s=prefill_s,
        decode_s=decode_s,
        e2e_s=_us(restoration_s + aux_s + prefill_s + decode_s),
        decode_tokens=steps,
        kv_bytes_prefill=held[0],
        kv_bytes_decode=held[1],
        peak_bytes=540_000_000 + held[1],
        fallbacks=(),
        decode_loop=recipe.loop,
        speculation=speculation,
    )


def _conditioned(recipe: Recipe) -> bool:
    """The drafter reads the verifier's hidden states, which prefill has to capture."""
    return recipe.drafter is not None and recipe.drafter.weights is not None


def _speculate(recipe: Recipe, setup: Setup, rng: random.Random, steps: int, pace: float) -> Speculation:
    """Rounds whose seconds add up to the true speed-up over `steps` plain steps."""
    dflash = recipe.name == "fused_dflash"
    target = steps * STEP_S / (setup.speedup if dflash else setup.ngram_speedup)
    counts = []
    left = steps
    while left > 0:
        drafted = DRAFT_DEPTH if dflash or rng.random() < setup.ngram_share else 0
        matched = 0
        while matched < drafted and rng.random() < setup.acceptance:
            matched += 1
        committed = min(matched + 1, left)
        counts.append((drafted, min(matched, committed), committed))
        left -= committed
    weights = [1 + 0.06 * drafted for drafted, _, _ in counts]
    unit = target / sum(weights)
    rounds = tuple(
        _block(*count, weight * unit * pace * rng.lognormvariate(0, setup.noise / 2))
        for count, weight in zip(counts, weights, strict=True)
    )
    return Speculation(
        blocks=len(rounds),
        drafted=sum(block.drafted for block in rounds),
        accepted=sum(block.accepted for block in rounds),
        committed=steps,
        mean_accept_len=steps / len(rounds),
        accept_len_counts="committed",
        draft_s=_us(sum(block.draft_s for block in rounds)),
        verify_s=_us(sum(block.verify_s for block in rounds)),
        extend_s=_us(sum(block.extend_s for block in rounds)),
        rollback_s=_us(sum(block.rollback_s for block in rounds)),
        rounds=rounds,
    )


def _block(drafted: int, accepted: int, committed: int, seconds: float) -> Block:
    draft_s, extend_s, rollback_s = (_us(seconds * share) if drafted else 0.0 for share in (0.1, 0.02, 0.01))
    return Block(
        drafted=drafted,
        accepted=accepted,
        committed=committed,
        draft_s=draft_s,
        verify_s=_us(seconds * 0.86),
        extend_s=extend_s,
        rollback_s=rollback_s,
        seconds=_us(seconds),
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
        decode_loop=recipe.loop,
        timing_scope="stages",
        measurements=tuple(rows),
        stream_audit=StreamAudit(reference="verifier_native", streams=tuple(seen.values())),
    )


# --- memory, prompts, provenance


def _positions(restoration: Restoration, tokens: int) -> int:
    """Positions whose K/V a layer holds: all of them, unless evicted and neither put back for good."""
    kept = restoration.mode == "none" or (restoration.mode != "ablate" and restoration.residency == "resident")
    return tokens if kept else min(tokens, SINK + WINDOW)


def _kv_bytes(restoration: Restoration, tokens: int) -> int:
    return LAYERS * BYTES_PER_LAYER_TOKEN * _positions(restoration, tokens)


def _memory(arm: Arm) -> ArmMemory:
    longest = max(arm.measurements, key=lambda row: row.prompt_tokens or 0)
    assert longest.prompt_tokens is not None
    assert arm.restoration is not None
    positions = _positions(arm.restoration, longest.prompt_tokens)
    layer_bytes = positions * BYTES_PER_LAYER_TOKEN
    return ArmMemory(
        arm=arm.name,
        sample=longest.sample,
        sequence_length=longest.prompt_tokens,
        layers=tuple(
            LayerMemory(
                layer=layer,
                kind="full_attention",
                bytes_per_token=BYTES_PER_LAYER_TOKEN,
                resident_positions=positions,
                resident_bytes=layer_bytes,
            )
            for layer in range(LAYERS)
        ),
        total_bytes=LAYERS * layer_bytes,
        full_kv_bytes=LAYERS * BYTES_PER_LAYER_TOKEN * longest.prompt_tokens,
        measured_bytes=longest.kv_bytes_prefill,
        formula_matches_run=True,
    )


def _prompts(setup: Setup, answers: Sequence[str | None], sets: Sequence[PromptSet]) -> tuple[PromptRecord, ...]:
    made = []
    for sample, answer in enumerate(answers):
        rng = random.Random(f"prompt/{setup.seed}/{sample}")
        count = round(setup.prompt_tokens * rng.uniform(0.95, 1.05))
        first = rng.randint(SINK + 10, count - WINDOW - 60)
        for prompt_set in sets:
            ids = [rng.randrange(49152) for _ in range(count)]
            needle = answer is not None and prompt_set == "main"
            made.append(
                PromptRecord(
                    sample=sample,
                    prompt_set=prompt_set,
                    digest=_digest(",".join(map(str, ids))),
                    token_count=count,
                    answer=answer,
                    needle_depth=first / count if needle else None,
                    needle_first=first if needle else None,
                    needle_last=first + 12 if needle else None,
                    question_first=count - 24 if answer is not None else None,
                )
            )
    return tuple(made)


def _workload(kind: Kind, setup: Setup, prompts: Sequence[PromptRecord]) -> WorkloadInfo:
    lines = (f"{p.sample}|{p.prompt_set}|{p.digest}|{p.answer or ''}" for p in prompts)
    return WorkloadInfo(
        name=kind,
        generator_version=1,
        seed=setup.seed,
        digest=_digest("\n".join(lines)),
        prompt_style="chat" if kind == "niah" else "completion",
        prompts=tuple(prompts),
    )


def provenance(models: tuple[ModelInfo, ...] = ()) -> Provenance:
    """Full provenance of a simulated machine; PyTorch is there where a drafter may be compared with it."""
    torch = (Package(name="torch", version="2.13.0"),) if any(model.role == "drafter" for model in models) else ()
    return Provenance(
        source=Source(git_commit="e07cd95b0c8f4c6f8a2f5b1f6b7d8f2a3c4e5d60", dirty=False, version="0.1.0"),
        argv=("k3", "eval"),
        host=Host(os="Linux 6.1", machine="x86_64", chip="Simulated", cores=2, memory=8 * 2**30, python="3.11.9"),
        packages=(Package(name="mlx", version="0.32.4"), Package(name="mlx-lm", version="0.32.2"), *torch),
        models=(_verifier(), *models),
        device="cpu",
        blas="OpenBLAS 0.3.29",
    )


def _verifier() -> ModelInfo:
    return ModelInfo(
        role="verifier",
        id="smollm2-135m",
        revision="7e27bd9f95328f0f3b08261d1252705110c806f8",
        weights=_digest("smollm2-135m"),
        architecture="llama",
        layer_types=("full_attention",) * LAYERS,
        quantisation="none",
        dtype="float32",
        faithfulness=Faithfulness(
            reference="transformers 5.24.0, float32", tokens=256, argmax_agreement=1.0, largest_logit_gap=0.0002
        ),
    )


def _model(role: str, name: str) -> ModelInfo:
    return ModelInfo.model_validate(
        {
            "role": role,
            "id": name,
            "revision": "1",
            "weights": _digest(name),
            "architecture": "dflash" if role == "drafter" else "ridge",
            "layer_types": ("full_attention",) * 2,
            "quantisation": "none",
            "dtype": "float32",
        }
    )


# --- parity and codecs


def measured_parity(setup: Setup) -> Report:
    """A parity report before judgement."""
    prompts = _prompts(setup, [None] * setup.samples, ("main",))
    return Report(
        kind="parity",
        report_id=f"parity-smollm2-{_digest(repr(setup))[7:19]}",
        created_at=datetime(2026, 11, 29, 16, 10, tzinfo=UTC),
        preset=PresetInfo(name="parity-smollm2", digest=_digest("parity-smollm2")),
        provenance=provenance((_model("drafter", "dflash-smollm2"),)),
        workload=_workload("parity", setup, prompts),
        plan=PlanInfo(digest=_digest(f"parity/{setup!r}"), samples=setup.samples, repeats=1, complete=True),
        parity=_parity(setup),
    )


def _parity(setup: Setup) -> ParityResult:
    blocks = []
    for sample in range(setup.samples):
        rng = random.Random(f"parity/{setup.seed}/{sample}")
        for number in range(max(4, -(-10 // setup.samples))):
            tokens = tuple(rng.randrange(49152) for _ in range(DRAFT_DEPTH))
            blocks.append(
                ParityBlock(
                    sample=sample,
                    block=number,
                    context_tokens=setup.prompt_tokens + number * 3,
                    reference_tokens=tokens,
                    candidate_tokens=tokens,
                )
            )
    return ParityResult(
        drafter_weights=_digest("dflash-smollm2"),
        reference_runtime="torch",
        reference_dtype="float32",
        candidate_runtime="mlx",
        candidate_dtype="float32",
        blocks=tuple(blocks),
    )


_CODECS = (
    # name, bits a value, relative error of K, of V
    ("identity", 32.0, 0.0, 0.0),
    ("affine8", 8.5, 6e-5, 3e-5),
    ("affine4", 4.5, 1.8e-2, 9.9e-3),
    ("hadamard_e8", 4.5, 5.4e-3, 6.0e-3),
    ("lattice_d4", 6.3125, 7.7e-4, 7.4e-4),
)


def measured_kv_quant(setup: Setup) -> Report:
    """A codec report before judgement."""
    rng = random.Random(f"kvquant/{setup.seed}")
    answers = [f"{rng.choice(_PREFIXES)}-{rng.randint(1000, 9999)}" for _ in range(setup.samples)]
    prompts = _prompts(setup, answers, ("main",))
    oracle = tuple(_codec_oracle(prompt, rng) for prompt in prompts)
    arms = tuple(
        CodecArm(
            name=name,
            codec=name,
            path="injected",
            layers=tuple(range(CAPTURED)),
            samples=tuple(_codec_sample(row, rng, bits, *errors) for row in oracle),
        )
        for name, bits, *errors in _CODECS
    )
    worth = {"affine8": False, "hadamard_e8": True, "lattice_d4": False}
    return Report(
        kind="kv_quant",
        report_id=f"kvquant-smollm2-{_digest(repr(setup))[7:19]}",
        created_at=datetime(2026, 11, 29, 16, 10, tzinfo=UTC),
        preset=PresetInfo(name="kvquant-smollm2", digest=_digest("kvquant-smollm2")),
        provenance=provenance(),
        workload=_workload("kv_quant", setup, prompts),
        plan=PlanInfo(digest=_digest(f"kvquant/{setup!r}"), samples=setup.samples, repeats=1, complete=True),
        kv_quant=KvQuantResult(
            oracle_recall=1.0,
            oracle=oracle,
            arms=arms,
            verdicts=tuple(StatedCodecVerdict(arm=name, worthwhile=value) for name, value in worth.items()),
        ),
    )


def _codec_oracle(prompt: PromptRecord, rng: random.Random) -> OracleSample:
    """The verifier's own answers to both questions, and the K/V it holds."""
    assert prompt.token_count is not None
    assert prompt.answer is not None
    stream = _answer(prompt.answer, correct=True)
    said = SecondQuestion(text=stream.text, correct=True, token_ids=stream.token_ids)
    energies = tuple(
        LayerEnergy(layer=layer, k=rng.uniform(1e5, 4e5), v=rng.uniform(1e4, 4e4)) for layer in range(CAPTURED)
    )
    return OracleSample(
        sample=prompt.sample,
        token_ids=stream.token_ids,
        text=stream.text,
        correct=True,
        stop_reason=stream.stop_reason,
        second=said,
        energies=energies,
        positions=prompt.token_count,
        kv_bytes=prompt.token_count * CAPTURED * 384 * 4,
        decode_s=_us(STEP_S * 32 * rng.lognormvariate(0, 0.02)),
        decode_tokens=32,
    )


def _codec_sample(oracle: OracleSample, rng: random.Random, bits: float, error_k: float, error_v: float) -> CodecSample:
    values = oracle.positions * CAPTURED * 384
    layers = tuple(
        LayerError(
            layer=layer,
            k=error_k * rng.lognormvariate(0, 0.03),
            v=error_v * rng.lognormvariate(0, 0.03),
            k_before_rope=error_k * rng.lognormvariate(0, 0.03),
            attention=error_v * rng.lognormvariate(0, 0.1),
        )
        for layer in range(CAPTURED)
    )
    weighted = weighted_errors(layers, oracle.energies)
    assert weighted is not None
    held_out = HeldOut(tokens=48, kl_divergence=error_k * rng.lognormvariate(0, 0.1), top1_flips=int(error_k * 100))
    stored = round(values * bits / 8)
    return CodecSample(
        sample=oracle.sample,
        correct=True,
        token_ids=oracle.token_ids,
        token_ids_equal_oracle=True,
        text=oracle.text,
        relative_error_k=weighted[0],
        relative_error_v=weighted[1],
        stored_bytes=stored,
        values=values,
        entropy_bits=bits * (0.95 if error_k else 1.0),
        layers=layers,
        held_out=held_out,
        second=oracle.second.replace(token_ids_equal_oracle=True, file_bytes=stored // 2),
    )


def _ids(pieces: Sequence[str]) -> tuple[int, ...]:
    """A toy tokenizer: one id a piece of text, the same for the same piece."""
    return tuple(100 + int(hashlib.sha256(piece.encode()).hexdigest()[:8], 16) % 49000 for piece in pieces)


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _us(seconds: float) -> float:
    return round(seconds, 6)
