"""What is put back at evicted positions. One class a mode; the one with weights, f_theta, has a file of its own.

`identity` puts back the verifier's own K/V, which left the cache at eviction: a control of the machinery, since its
output must equal the oracle's. `ablate` puts back nothing: the control that shows what the evicted K/V were worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from harness.base.errors import EngineError, UsageError
from harness.engines.bounded.arrays import Array
from harness.engines.bounded.layout import Policy
from harness.engines.spec import RestorationSpec
from reports.records.measurement import Restoration
from reports.restorations import RESTORATIONS, RestorationMode


@dataclass(frozen=True)
class Evicted:
    """K/V moved out of one layer: keys (after RoPE) and values, each (1, K/V heads, len(positions), head size)."""

    layer: int
    positions: range
    keys: Array
    values: Array


class Restorer(Protocol):
    """Makes K/V for evicted positions."""

    mode: ClassVar[RestorationMode]

    @property
    def nbytes(self) -> int:
        """Bytes it keeps for this prompt besides the cache."""
        ...

    @property
    def capture_layer(self) -> int | None:
        """The layer whose input it wants to observe; None if it needs none."""
        ...

    @property
    def seconds(self) -> float:
        """Seconds it spent observing."""
        ...

    def arrays(self) -> list[Array]:
        """What it keeps, to be evaluated."""
        ...

    def fresh(self) -> "Restorer":
        """A restorer of the same kind for another prompt."""
        ...

    def policy(self, layer: int) -> Policy:
        """What happens to positions evicted in this layer: `restore`, `rebuild` or `drop`."""
        ...

    def observe(self, hidden: Array, wait: bool) -> None:
        """Take note of what enters `capture_layer`, (1, L, hidden); with `wait` in an evaluated graph."""
        ...

    def rewind(self, count: int) -> None:
        """Forget what was observed beyond the first `count` positions."""
        ...

    def restore(self, evicted: Evicted) -> tuple[Array, Array]:
        """Keys (after RoPE at their absolute positions) and values to write, in the shapes of `evicted`."""
        ...

    def rebuild(self, layer: int, positions: range) -> tuple[Array, Array]:
        """Keys (after RoPE) and values of `positions` for one forward, each (1, K/V heads, n, head size)."""
        ...


class Memoryless:
    """A restorer that keeps nothing and rebuilds nothing."""

    mode: ClassVar[RestorationMode]
    nbytes = 0
    capture_layer: int | None = None
    seconds = 0.0

    def fresh(self) -> Self:
        """Itself."""
        return self

    def arrays(self) -> list[Array]:
        """Nothing."""
        return []

    def observe(self, hidden: Array, wait: bool) -> None:
        """Never called, since there is no `capture_layer`.

        Raises:
            EngineError: always.
        """
        raise EngineError(f"restoration {self.mode} observes nothing, yet it was shown {hidden.shape[1]} positions")

    def rewind(self, count: int) -> None:
        """Nothing was observed."""

    def rebuild(self, layer: int, positions: range) -> tuple[Array, Array]:
        """Never called, since no layer is rebuilt.

        Raises:
            EngineError: always.
        """
        raise EngineError(f"restoration {self.mode} rebuilds nothing, yet layer {layer} asked for {len(positions)}")


class IdentityRestorer(Memoryless):
    """The verifier's own K/V, as they were."""

    mode: ClassVar[RestorationMode] = "identity"

    def policy(self, layer: int) -> Policy:
        """Every layer restores."""
        return "restore"

    def restore(self, evicted: Evicted) -> tuple[Array, Array]:
        """What was moved out."""
        return evicted.keys, evicted.values


class AblateRestorer(Memoryless):
    """Nothing."""

    mode: ClassVar[RestorationMode] = "ablate"

    def policy(self, layer: int) -> Policy:
        """No layer restores."""
        return "drop"

    def restore(self, evicted: Evicted) -> tuple[Array, Array]:
        """Never called by a cache, since no layer restores.

        Raises:
            EngineError: always.
        """
        raise EngineError(f"ablation puts nothing back, yet layer {evicted.layer} asked for K/V")


RESTORERS: dict[RestorationMode, type[IdentityRestorer] | type[AblateRestorer]] = {
    "identity": IdentityRestorer,
    "ablate": AblateRestorer,
}


def make_restorer(mode: RestorationMode) -> Restorer:
    """The restorer of a mode that evicts and needs no weights.

    Raises:
        EngineError: this engine has none for `mode`.
    """
    if mode not in RESTORERS:
        raise EngineError(f"restoration {mode!r} is not one of those without weights; use {', '.join(RESTORERS)}")
    return RESTORERS[mode]()


def resolve_restoration(spec: RestorationSpec, layer_types: Sequence[str]) -> Restoration:
    """What `spec` means on a model with these layer types, as it goes into the report.

    Raises:
        UsageError: a layer or a layer type that the model does not have.
        EngineError: every layer is exact, so that nothing could be evicted.
    """
    mode, does = spec.restoration, RESTORATIONS[spec.restoration]
    if not does.evicts:
        return Restoration(mode=mode)
    exact = exact_layers(spec.exact_layers, layer_types)
    if len(exact) == len(layer_types):
        raise EngineError(f"restoration {mode}: all {len(exact)} layers are exact, so nothing would be evicted")
    residency = spec.residency or ("transient" if does.learned else "resident")
    return Restoration(
        mode=mode,
        exact_layers=exact,
        sink=spec.sink,
        window=spec.window,
        eviction=spec.eviction,
        residency=residency if does.restores else None,
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
