"""What is put back at evicted positions. One class a mode; a further mode is one more class (or file) here.

`identity` puts back the verifier's own K/V, which left the cache at eviction: a control of the machinery, since its
output must equal the oracle's. `ablate` puts back nothing: the control that shows what the evicted K/V were worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import mlx.core as mx

from harness.engines.registry import RestorationRequest
from harness.errors import EngineError, UsageError
from reports.measurement import Restoration, RestorationMode


@dataclass(frozen=True)
class Evicted:
    """K/V moved out of one layer: keys (after RoPE) and values, each (1, K/V heads, len(positions), head size)."""

    layer: int
    positions: range
    keys: mx.array
    values: mx.array


class Restorer(Protocol):
    """Makes K/V for evicted positions."""

    mode: ClassVar[RestorationMode]

    def restores(self, layer: int) -> bool:
        """Whether this layer gets K/V back; where not, evicted positions are gone."""
        ...

    def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
        """Keys (after RoPE at their absolute positions) and values to write, in the shapes of `evicted`."""
        ...


class Identity:
    """The verifier's own K/V, as they were."""

    mode: ClassVar[RestorationMode] = "identity"

    def restores(self, layer: int) -> bool:
        """Every layer."""
        return True

    def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
        """What was moved out."""
        return evicted.keys, evicted.values


class Ablate:
    """Nothing."""

    mode: ClassVar[RestorationMode] = "ablate"

    def restores(self, layer: int) -> bool:
        """No layer."""
        return False

    def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
        """Never called by a cache, since no layer restores.

        Raises:
            EngineError: always.
        """
        raise EngineError(f"ablation puts nothing back, yet layer {evicted.layer} asked for K/V")


RESTORERS: dict[RestorationMode, type[Identity] | type[Ablate]] = {"identity": Identity, "ablate": Ablate}


def make_restorer(mode: RestorationMode) -> Restorer:
    """The restorer of a mode that evicts.

    Raises:
        EngineError: this engine has none for `mode`.
    """
    if mode not in RESTORERS:
        raise EngineError(f"restoration {mode!r} is not one the incremental engine has; use {', '.join(RESTORERS)}")
    return RESTORERS[mode]()


def resolve_restoration(request: RestorationRequest, layer_types: Sequence[str]) -> Restoration:
    """What `request` means on a model with these layer types, as it goes into the report.

    Raises:
        UsageError: a layer the model does not have, a layer type it does not have, or sink or window out of range.
        EngineError: every layer is exact, so that nothing could be evicted.
    """
    if request.mode == "none":
        if request.exact_layers not in ("none", ()):
            raise UsageError("exact_layers: mean nothing with restoration none, which evicts nothing; leave them out")
        return Restoration(mode="none")
    if request.sink < 0 or request.window < 1:
        raise UsageError(f"sink {request.sink}, window {request.window}: sink is 0 or more and window 1 or more")
    exact = exact_layers(request.exact_layers, layer_types)
    if len(exact) == len(layer_types):
        raise EngineError(f"restoration {request.mode}: all {len(exact)} layers are exact, so nothing would be evicted")
    return Restoration(
        mode=request.mode,
        exact_layers=exact,
        sink=request.sink,
        window=request.window,
        eviction=request.eviction,
        residency=None if request.mode == "ablate" else "resident",
    )


def exact_layers(spec: tuple[int, ...] | str, layer_types: Sequence[str]) -> tuple[int, ...]:
    """The layers that keep all their own K/V, ascending: a list as given, all of a type, or none.

    Raises:
        UsageError: a layer or a layer type that the model does not have.
    """
    if spec == "none":
        return ()
    if isinstance(spec, str):
        layers = tuple(index for index, kind in enumerate(layer_types) if kind == spec)
        if not layers:
            raise UsageError(
                f"exact_layers: the model has no {spec} layer; it has {', '.join(sorted(set(layer_types)))}"
            )
        return layers
    beyond = [layer for layer in spec if not 0 <= layer < len(layer_types)]
    if beyond:
        raise UsageError(f"exact_layers: there is no layer {beyond[0]}; the model has 0 to {len(layer_types) - 1}")
    return tuple(sorted(set(spec)))
