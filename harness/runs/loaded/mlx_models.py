"""The models of a run loaded with MLX, behind plain values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base import clock
from harness.plans.preset import ParityPreset
from harness.runs.loaded.loaded_models import LoadedModels
from harness.runs.recorded_reference import find_recording
from reports.drafters import RECORDED
from reports.records.drafter_parity import ParityResult, Recording
from reports.records.measurement import AuditedStream, Measurement

if TYPE_CHECKING:
    from harness.engines.drafters.base import Drafter
    from harness.engines.mlx.verifier.load import Verifier

Compared = Callable[[int], None]
"""Told how many prompts were compared."""


@dataclass(frozen=True)
class LoadedMlxModels(LoadedModels):
    """A verifier of mlx-lm, ready to be measured."""

    verifier: "Verifier"

    def runtime(self) -> None:
        """What reports leave out is MLX."""

    def parity(self, preset: ParityPreset, prompts: Sequence[Sequence[int]], compared: Compared) -> ParityResult:
        """What both runtimes of the preset's drafter propose after these prompts; `compared` is told each one done.

        Raises:
            CannotRunError: a runtime is not installed, or no recording fits. ModelError, EngineError: the drafter does
                not fit the verifier.
        """
        from harness.checks.mlx.compare_drafters import compare_drafters
        from harness.engines.mlx.drafters.load import load_drafter

        proposing = preset.drafter_as(preset.candidate)
        candidate = load_drafter(proposing, self.verifier)
        recording: Recording | None = None
        if preset.reference.kind == RECORDED:
            from harness.engines.drafters.recorded import RecordedDrafter

            recording, recorded = find_recording(preset, self.models, prompts)
            reference: Drafter = RecordedDrafter(recorded, candidate.layers)
        else:
            reference = load_drafter(preset.drafter_as(preset.reference), self.verifier)
        result = compare_drafters(
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

    def now(self) -> float:
        """The clock: MLX's engines evaluate what they hand out."""
        return clock.now()

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
