"""run_preset(plan) -> Report: every codec on every sample, over the same captured K/V, beside the verifier itself."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import EngineError, OutputError, UsageError
from harness.base.pauses import watching
from harness.base.progress import Progress
from harness.engines.codec_scores import Answers, StreamLimit
from harness.models.model_text import stop_rules
from harness.plans.codec_preset import CodecPlan, CodecPreset, MixedArm, runtime_arms
from harness.plans.workload import ask, workload_of
from harness.runs.journal import Journal
from harness.runs.loaded.loading import load_models
from harness.runs.loaded.mlx_models import LoadedMlxModels
from harness.runs.measured_report import measured_report
from harness.runs.new_report import new_report
from reports.journal import MeasuredSample
from reports.records.codec_rows import ArmSample, CodecArm, CodecSample, KvQuantResult, RefusedArm
from reports.records.plan import PlanInfo
from reports.report import Report
from reports.untrusted.number_of import number_of
from workloads.base import Prompt, StopPolicy
from workloads.codec_prompts import shared_prefix

if TYPE_CHECKING:
    from harness.engines.mlx.kv_quant.codec_bench import CodecBench, SampleTokens
    from harness.engines.mlx.kv_quant.stored_kv import CodecPair


@dataclass(frozen=True)
class PreparedCodecs:
    """Everything a codec run needs, made once before the first sample; `skeleton` is its report before that."""

    preset: CodecPreset
    arms: "Arms"
    prompts: tuple[Prompt, ...]
    skeleton: Report
    bench: "CodecBench"

    def measure(self, sample: int, names: Collection[str]) -> MeasuredSample:
        """The plain model and the named arms on one sample."""
        exact = self.bench.exact(sample, sample_tokens(self.prompts, sample))
        pairs = {name: pair for name, pair in self.arms.pairs.items() if name in names}
        rows: dict[str, CodecSample] = dict(zip(pairs, self.bench.codecs(exact, list(pairs.values())), strict=True))
        for name, bits in self.arms.runtime.items():
            if name in names:
                rows[name] = self.bench.runtime(exact, bits, self.preset.runtime_group)
        ordered = (arm.name for arm in self.arms.described if arm.name in rows)
        return MeasuredSample(oracle=exact.row, codecs=tuple(ArmSample(arm=name, row=rows[name]) for name in ordered))


@dataclass(frozen=True)
class Arms:
    """What is measured: codecs by name, bits of the runtime's cache, and what it refused."""

    pairs: "dict[str, CodecPair]"
    described: tuple[CodecArm, ...]
    runtime: dict[str, int]
    refused: tuple[RefusedArm, ...]


def run_preset(plan: CodecPlan, out: Path, progress: Progress) -> Report:
    """Measure the codecs of `plan`: the finished report, without claims.

    Every sample is kept in the journal beside `out`, where the report is to be; samples that are there are not
    measured again.

    Raises:
        UsageError: a codec or layer that there is not. OutputError: the journal cannot be written.
        ModelError, EngineError: the model is missing or damaged, or its K/V cannot be captured.
        CannotRunError: the machine does not stay awake.
    """
    from harness.engines.mlx.kv_quant.codec import make_codec

    preset = plan.preset
    for name in (*preset.codecs, *(side for arm in preset.mixed for side in (arm.k, arm.v))):
        make_codec(name)
    progress(0, preset.samples, f"loading {preset.model}")
    loaded = load_models(preset.model)
    prepared = prepare(plan, loaded)
    names = [arm.name for arm in prepared.arms.described]
    with Journal.open(prepared.skeleton, out) as journal, watching() as watch:
        for sample in range(_done(journal), preset.samples):
            progress(sample, preset.samples, f"sample {sample}, {number_of(len(names), 'arm')}")
            watch.measure(
                partial(prepared.measure, sample, names),
                lambda entry, pause: journal.append(entry.replace(pause=pause)),
            )
        return measured_report(journal.skeleton, journal.entries)


def prepare(plan: CodecPlan, loaded: LoadedMlxModels) -> PreparedCodecs:
    """Tokenise the prompts, make the codecs, and begin the report.

    Raises:
        UsageError: a layer that there is not. EngineError: the model's K/V cannot be captured.
    """
    from harness.engines.mlx.kv_quant.codec_bench import CodecBench, captured_layers

    preset = plan.preset
    layers = captured_layers(loaded.verifier)
    arms = _arms(preset, loaded, layers)
    workload = workload_of(plan, loaded.text)
    prompts = ask(workload, loaded.text, preset)
    loaded.tell_unverified()
    skeleton = new_report(
        plan,
        loaded,
        workload,
        prompts,
        _info(preset),
        kv_quant=KvQuantResult(arms=arms.described, refused=arms.refused),
    )
    return PreparedCodecs(
        preset, arms, prompts, skeleton, CodecBench(loaded.verifier, layers, _answers(preset, loaded, prompts))
    )


def _done(journal: Journal) -> int:
    """Samples that the journal has already: the first ones, with every arm."""
    assert journal.skeleton.kv_quant is not None
    names = [arm.name for arm in journal.skeleton.kv_quant.arms]
    found = [entry for entry in journal.of(MeasuredSample) if entry.counts]
    for number, entry in enumerate(found):
        if entry.oracle.sample != number or [codec.arm for codec in entry.codecs] != names:
            raise OutputError(f"{journal.path}: its samples are not the first of this run; choose another --out")
    return len(found)


def sample_tokens(prompts: tuple[Prompt, ...], sample: int) -> "SampleTokens":
    """The three prompts of a sample as the bench takes them."""
    from harness.engines.mlx.kv_quant.codec_bench import SampleTokens

    sets = {prompt.prompt_set: prompt for prompt in prompts if prompt.sample == sample}
    main, second, held_out = sets["main"], sets["second_question"], sets["held_out"]
    assert held_out.question_first is not None
    return SampleTokens(
        main=main.tokens,
        second=second.tokens,
        haystack=shared_prefix(main, second),
        held_out=held_out.tokens,
        scored_from=held_out.question_first,
    )


def _arms(preset: CodecPreset, loaded: LoadedMlxModels, layers: tuple[int, ...]) -> Arms:
    """All arms of the preset on this model; those that mlx-lm refuses, with its reason."""
    from harness.engines.mlx.kv_quant.codec import make_codec
    from harness.engines.mlx.kv_quant.runtime_cache import quantised_caches
    from harness.engines.mlx.kv_quant.stored_kv import CodecPair

    mixed = [MixedArm(name=name, k=name, v=name) for name in preset.codecs] + list(preset.mixed)
    pairs, described = {}, []
    for arm in mixed:
        chosen = layers if arm.layers is None else arm.layers
        beyond = sorted(set(chosen) - set(layers))
        if beyond:
            shown = ", ".join(map(str, layers))
            raise UsageError(f"preset {preset.name}: {arm.name}: layer {beyond[0]} is none of those captured: {shown}")
        pair = CodecPair(make_codec(arm.k), make_codec(arm.v), frozenset(chosen))
        pairs[arm.name] = pair
        described.append(
            CodecArm(
                name=arm.name,
                codec=arm.k if arm.k == arm.v else f"{arm.k} / {arm.v}",
                path="injected",
                codec_k=arm.k,
                codec_v=arm.v,
                scales=pair.keys.scales if arm.k == arm.v else f"{pair.keys.scales} / {pair.values.scales}",
                layers=tuple(sorted(chosen)),
                samples=(),
            )
        )
    runtime, refused = {}, []
    for name, bits in runtime_arms(preset).items():
        try:
            quantised_caches(loaded.verifier.model, layers, bits, preset.runtime_group)
        except EngineError as error:
            refused.append(RefusedArm(name=name, reason=str(error)))
            continue
        runtime[name] = bits
        described.append(
            CodecArm(
                name=name,
                codec=f"mlx-lm QuantizedKVCache, affine{bits}, group {preset.runtime_group}",
                path="runtime",
                scales=f"{loaded.verifier.architecture.dtype} scale and bias",
                layers=layers,
                samples=(),
            )
        )
    return Arms(pairs, tuple(described), runtime, tuple(refused))


def _info(preset: CodecPreset) -> PlanInfo:
    return PlanInfo(
        samples=preset.samples,
        repeats=1,
        max_new_tokens=preset.max_new_tokens,
        prefill_chunk=preset.prefill_chunk,
        stop=stop_rules(StopPolicy()),
        complete=False,
    )


def _answers(preset: CodecPreset, loaded: LoadedMlxModels, prompts: tuple[Prompt, ...]) -> Answers:
    """How streams end and are scored."""
    limit = StreamLimit(
        new_tokens=preset.max_new_tokens,
        timed_tokens=max(preset.timed_tokens, preset.max_new_tokens),
        stops=loaded.text.stop_tokens(StopPolicy()),
        chunk=preset.prefill_chunk,
    )
    wanted = {prompt.sample: prompt.answer for prompt in prompts if prompt.prompt_set == "main" and prompt.answer}
    return Answers(loaded.text.decode, limit, wanted)
