"""The engines by name: which there are, with which loop each decodes, and what it can do. The one place that says so.

Presets ask for engines by these names, reports carry them, and the gate holds rows to what stands here. The file that
builds one is found by its name (`harness.engines.registry`). An engine of another package adds its entry with
`register`. A report may name an engine that this process does not know; the gate then takes what its arm says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class EngineKind:
    """What an engine is, whatever builds it.

    `decode_loop` is the name that its rows carry, and no other engine's. `drafts`: it decodes speculatively, so it has
    a drafter. `bounds`: it can bound its cache to sink + window and restore what was evicted. `foreign`: the loop is
    another project's, whose faults are not ours.
    """

    name: str
    decode_loop: str
    drafts: bool = False
    bounds: bool = False
    foreign: bool = False


ORACLE = EngineKind("ar", "generate_step")
"""The verifier alone: the oracle, its repeat, and the needle-free control."""

NATIVE_BASELINE = EngineKind("native-baseline", "native_step")
"""The verifier alone in a loop of ours."""

INCREMENTAL = EngineKind("incremental", "incremental_step", bounds=True)
FUSED = EngineKind("fused", "fused_block", drafts=True, bounds=True)
FUSED_CARRY = EngineKind("fused-carry", "fused_carry_block", drafts=True)
MLX_LM_SPECULATIVE = EngineKind("mlx-lm-speculative", "speculative_generate_step", drafts=True, foreign=True)

_known = {kind.name: kind for kind in (ORACLE, NATIVE_BASELINE, INCREMENTAL, FUSED, FUSED_CARRY, MLX_LM_SPECULATIVE)}

ENGINES: Mapping[str, EngineKind] = MappingProxyType(_known)
"""Every engine that this process knows."""


def register(kind: EngineKind) -> None:
    """Add an engine.

    Raises:
        ValueError: its name or its decode loop is another engine's.
    """
    for known in _known.values():
        if kind.name == known.name or kind.decode_loop == known.decode_loop:
            raise ValueError(f"engine {kind.name} ({kind.decode_loop}): {known.name} ({known.decode_loop}) is there")
    _known[kind.name] = kind
