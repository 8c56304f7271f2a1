"""The engines by name: which there are, with which loop each decodes, and what it can do. The one place that says so.

Presets ask for engines by these names, reports carry them, and the gate holds rows to what stands here. The file that
builds one is found by its name (`harness.engines.registry`). An engine of another package adds its entry with
`register`, by itself or as a plug-in (`k3.engines`). A report may name an engine that this process does not know; the
gate then takes what its arm says.
"""

from dataclasses import dataclass, replace
from typing import Literal

from reports.plugins.entry_points import Plugin, name_fault
from reports.plugins.vocabulary import Vocabulary

Backend = Literal["mlx", "torch"]
"""The library that computes: MLX with mlx-lm, or PyTorch with transformers."""
MLX: Backend = "mlx"
TORCH: Backend = "torch"

REMOTE = "remote"
"""An arm that another process runs. Its rows carry the engine that the server says it runs."""


@dataclass(frozen=True)
class EngineKind:
    """What an engine is, whatever builds it.

    `decode_loop` is the name that its rows carry, and no other engine's. `drafts`: it decodes speculatively, so it has
    a drafter. `bounds`: it can bound its cache to sink + window and restore what was evicted. `foreign`: the loop is
    another project's, whose faults are not ours. `backends` can run it; `torch_loop` is its loop on PyTorch, where that
    is another one.
    """

    name: str
    decode_loop: str
    drafts: bool = False
    bounds: bool = False
    foreign: bool = False
    backends: tuple[Backend, ...] = (MLX,)
    torch_loop: str | None = None

    def on(self, backend: Backend) -> "EngineKind":
        """The engine as it is on `backend`."""
        return replace(self, decode_loop=self.torch_loop) if backend == TORCH and self.torch_loop else self


@dataclass(frozen=True)
class EngineEntry:
    """What an entry point of `k3.engines` names; `built_by` is the `package.module:Class` that is called as
    `harness.engines.registry.build` does. Its module imports no model library."""

    kind: EngineKind
    built_by: str


BOTH: tuple[Backend, ...] = (MLX, TORCH)

ORACLE = EngineKind("ar", "generate_step", backends=BOTH, torch_loop="greedy_step")
"""The verifier alone: the oracle, its repeat, and the needle-free control."""

NATIVE_BASELINE = EngineKind("native-baseline", "native_step", backends=BOTH)
"""The verifier alone in a loop of ours."""

INCREMENTAL = EngineKind("incremental", "incremental_step", bounds=True, backends=BOTH)
FUSED = EngineKind("fused", "fused_block", drafts=True, bounds=True, backends=BOTH)
FUSED_CARRY = EngineKind("fused-carry", "fused_carry_block", drafts=True, backends=BOTH)
MLX_LM_SPECULATIVE = EngineKind("mlx-lm-speculative", "speculative_generate_step", drafts=True, foreign=True)
TRANSFORMERS_ASSISTED = EngineKind(
    "transformers-assisted", "assisted_decoding", drafts=True, foreign=True, backends=(TORCH,)
)

HTTP = EngineKind("http", "completions_stream", foreign=True, backends=BOTH)
"""Whatever decodes behind an OpenAI-compatible endpoint: nothing of it is seen but its stream."""

_own = (ORACLE, NATIVE_BASELINE, INCREMENTAL, FUSED, FUSED_CARRY)
_known = {kind.name: kind for kind in (*_own, MLX_LM_SPECULATIVE, TRANSFORMERS_ASSISTED, HTTP)}

SHIPPED = frozenset(_known)
"""Names of the engines that ship."""

_elsewhere: dict[str, str] = {}


def register(kind: EngineKind, built_by: str | None = None) -> None:
    """Add an engine of another package; `built_by` as in `EngineEntry`, none where it is only judged.

    Raises:
        ValueError: its name or its decode loop is another engine's.
    """
    if kind.name == REMOTE:
        raise ValueError(f"engine {REMOTE} is K3's own")
    for known in _known.values():
        if kind.name == known.name or kind.decode_loop == known.decode_loop:
            raise ValueError(f"engine {kind.name} ({kind.decode_loop}): {known.name} ({known.decode_loop}) is there")
    _known[kind.name] = kind
    if built_by is not None:
        _elsewhere[kind.name] = built_by


def _add(plugin: Plugin) -> None:
    """The engine of a plug-in.

    Raises:
        PluginError: it cannot be loaded, or goes by another name than its entry point or by another engine's.
    """
    entry = plugin.load(EngineEntry)
    if entry.kind.name != plugin.name or name_fault(plugin):
        raise plugin.error(name_fault(plugin) or f"its engine is called {entry.kind.name}; name both alike")
    try:
        register(entry.kind, entry.built_by)
    except ValueError as error:
        raise plugin.error(str(error)) from error


ENGINES = Vocabulary(_known, "engines", _add)
"""Every engine that this process knows, and those of plug-ins once they are asked for."""


def built_by(name: str) -> str | None:
    """Where another package builds the engine of this name; none for one that ships."""
    return _elsewhere.get(name)


def registered() -> tuple[EngineEntry, ...]:
    """The engines of other packages: a process that is started anew knows none."""
    return tuple(EngineEntry(_known[name], place) for name, place in _elsewhere.items())
