"""The models of a run, loaded: the verifier, with all that a runner needs of a backend behind plain values."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from harness.engines.base import Engine, LoadedVerifier
from harness.engines.bounded.cache_formula import cache_table
from harness.engines.others import others_faults
from harness.engines.registry import build
from harness.engines.spec import EngineSettings
from harness.models.model_text import ModelText
from harness.plans.plan import ArmPlan
from reports.records.kv_memory import ArmMemory
from reports.records.measurement import Arm, AuditedStream, Measurement
from reports.records.provenance import ModelInfo, Runtime


@dataclass(frozen=True)
class LoadedModels(ABC):
    """A verifier, ready to be measured. `models` are all that take part, the verifier first."""

    verifier: LoadedVerifier
    models: tuple[ModelInfo, ...]
    text: ModelText
    device: str
    blas: str
    blas_threads: int | None

    @abstractmethod
    def runtime(self) -> Runtime | None:
        """What computes, where it is not MLX."""

    @abstractmethod
    def now(self) -> float:
        """The clock of this backend, read once everything dispatched before is done."""

    @abstractmethod
    def reset_peak(self) -> None:
        """Begin a new row: nothing of the last one is still running, and its peak is forgotten."""

    @abstractmethod
    def held(self) -> int | None:
        """Bytes held now, weights included; None where nobody counts them."""

    @abstractmethod
    def peak(self) -> int | None:
        """Most bytes held at once since `reset_peak`, weights included; None where nobody counts them."""

    @abstractmethod
    def audit(self, prompt: Sequence[int], row: Measurement) -> AuditedStream:
        """Check a row's stream against the verifier, teacher-forced and untimed."""

    def build(self, arm: ArmPlan, prefill_chunk: int, max_new_tokens: int) -> Engine:
        """The engine of an arm whose streams have at most `max_new_tokens`.

        Raises:
            EngineError: it cannot do what the arm asks for on this verifier.
        """
        spec = arm.spec
        settings = EngineSettings(
            prefill_chunk=prefill_chunk,
            restoration=spec,
            drafter=spec.drafter,
            remote=spec.remote,
            http=spec.http,
            max_new_tokens=max_new_tokens,
        )
        with others_faults(spec):
            return build(spec.engine, self.verifier, settings)

    def tell_unverified(self) -> None:
        """Say, before a long run, that nothing of it will be admitted as long as the verifier was not compared."""
        from harness.fetching.progress import tell

        own = self.models[0]
        if own.faithfulness is None:
            tell(f"{own.id} was not compared with its reference, so all will be withheld: `k3 models verify` it first")

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
