"""The engines by name, and what they are built from. Names resolve late, so that listing them loads no MLX."""

import importlib
from dataclasses import dataclass, field
from typing import Literal

from harness.base.errors import UsageError
from harness.base.nearest import nearest
from harness.engines.base import Engine, LoadedVerifier
from reports.records.measurement import RestorationMode

ENGINES: dict[str, str] = {
    "ar": "harness.engines.mlx.engines.ar:ArEngine",
    "native-baseline": "harness.engines.mlx.engines.native_baseline:NativeBaselineEngine",
    "incremental": "harness.engines.mlx.engines.incremental:IncrementalEngine",
    "fused": "harness.engines.mlx.engines.fused:FusedEngine",
    "fused-carry": "harness.engines.mlx.engines.fused_carry:FusedCarryEngine",
    "mlx-lm-speculative": "harness.engines.mlx.engines.mlx_lm_speculative:MlxLmSpeculativeEngine",
}
DRAFTING = ("fused", "fused-carry", "mlx-lm-speculative")
RESTORING = ("incremental", "fused")


@dataclass(frozen=True)
class RestorationRequest:
    """What an arm asks for, before the model is known.

    `exact_layers` is a list of layers, a layer type (`full_attention`, `sliding_attention`) that stands for all
    layers of that type, or `none`. `sink`, `window` and `eviction` mean nothing in mode `none`. `f_theta` names the
    weights of that mode, as a model is named; `residency` None is the mode's own: transient for f_theta.
    """

    mode: RestorationMode = "none"
    exact_layers: tuple[int, ...] | Literal["none", "full_attention", "sliding_attention"] = "none"
    sink: int = 4
    window: int = 64
    eviction: Literal["strict", "after"] = "strict"
    f_theta: str | None = None
    residency: Literal["resident", "transient"] | None = None


@dataclass(frozen=True)
class DrafterRequest:
    """The proposer of a fused arm, before it is loaded.

    `ngram` needs no `model`; the others name one as `harness.models.resolve.resolve` takes it. `block_size` counts
    the last committed token and the drafts after it, so a block drafts `block_size - 1` tokens at most. `dtype` is
    that of the checkpoint if None. `bits` rounds the weights of a `model` on load. `shuffle_seed` turns the drafter
    into a negative control: its tokens go through a seeded permutation of the vocabulary.
    """

    kind: Literal["ngram", "model", "dflash", "dflash-torch", "combined"]
    model: str | None = None
    block_size: int = 8
    graph: Literal["two_phase", "single"] = "two_phase"
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    bits: Literal[2, 3, 4, 5, 6, 8] | None = None
    shuffle_seed: int | None = None


@dataclass(frozen=True)
class EngineSettings:
    """Everything an engine is built from besides the verifier; `prefill_chunk` is in tokens."""

    prefill_chunk: int = 512
    restoration: RestorationRequest = field(default_factory=RestorationRequest)
    drafter: DrafterRequest | None = None


def build(name: str, verifier: LoadedVerifier, settings: EngineSettings) -> Engine:
    """The engine called `name`, on `verifier`.

    Raises:
        UsageError: no engine has that name, or a setting is out of range.
        EngineError: the engine cannot do what `settings` ask on this verifier.
    """
    if settings.prefill_chunk < 1:
        raise UsageError(f"prefill_chunk: {settings.prefill_chunk} is no number of tokens; use 1 or more")
    engine_class = _resolve(name)
    _check_drafter(name, settings.drafter)
    engine: Engine = engine_class(verifier, settings)
    return engine


def _check_drafter(name: str, drafter: DrafterRequest | None) -> None:
    """An engine that drafts has a drafter, and no other has one."""
    if name not in DRAFTING:
        if drafter is not None:
            raise UsageError(f"drafter: {name} drafts nothing; use one of {', '.join(DRAFTING)}")
    elif drafter is None:
        raise UsageError(f"drafter: {name} needs one; set its kind, for example ngram")
    elif drafter.block_size < 1:
        raise UsageError(f"drafter: block_size: {drafter.block_size} is no number of tokens; use 1 or more")


def _resolve(name: str) -> type:
    """The class behind a registered name."""
    if name not in ENGINES:
        near = nearest(name, ENGINES)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(sorted(ENGINES))}"
        raise UsageError(f"engine {name!r} is unknown; {hint}")
    module, _, attribute = ENGINES[name].partition(":")
    resolved: type = getattr(importlib.import_module(module), attribute)
    return resolved
