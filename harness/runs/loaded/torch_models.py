"""The models of a run loaded with PyTorch, behind plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.runs.loaded.loaded_models import LoadedModels
from reports.records.measurement import AuditedStream, Measurement
from reports.records.provenance import Runtime

if TYPE_CHECKING:
    from harness.engines.torch.verifier.load import Verifier


@dataclass(frozen=True)
class LoadedTorchModels(LoadedModels):
    """A verifier of transformers on a device of PyTorch's, ready to be measured."""

    verifier: "Verifier"

    def runtime(self) -> Runtime:
        """What computes."""
        from harness.engines.torch.verifier.load import threads

        verifier = self.verifier
        return Runtime(
            backend="torch",
            device=verifier.device.name,
            dtype=verifier.architecture.dtype,
            attention=verifier.attention,
            threads=threads(),
        )

    def now(self) -> float:
        """The clock, once the device has done everything dispatched to it."""
        return self.verifier.device.now()

    def reset_peak(self) -> None:
        """Begin a new row: nothing of the last one is still running, and its peak is forgotten."""
        self.verifier.device.reset_peak()

    def held(self) -> int | None:
        """Bytes PyTorch holds now, weights included; None where its allocator keeps no count."""
        return self.verifier.device.held_bytes()

    def peak(self) -> int | None:
        """Most bytes PyTorch held at once since `reset_peak`; None where its allocator keeps no count."""
        return self.verifier.device.peak_bytes()

    def audit(self, prompt: Sequence[int], row: Measurement) -> AuditedStream:
        """Check a row's stream against the verifier, teacher-forced and untimed."""
        from harness.checks.torch.stream_audit import audit

        assert row.token_ids is not None
        return audit(self.verifier, prompt, row.token_ids, sample=row.sample, repeat=row.repeat)
