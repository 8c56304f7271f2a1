"""The kinds of drafters: what proposes tokens, by the word presets ask with and the name reports carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Bits = Literal[2, 3, 4, 5, 6, 8]
"""To what the weights of a small model can be rounded on load."""
ROUNDINGS: tuple[int, ...] = get_args(Bits)

PYTHON = "python"
"""The runtime that is always there."""

RECORDED = "recorded"
"""Stands for a runtime whose proposals were written down before and are looked up."""

SHUFFLED = "shuffled "
"""Stands before the name of a drafter whose tokens go through a permutation: a negative control."""


@dataclass(frozen=True)
class DrafterKind:
    """What a proposer is, whatever loads it.

    `kind` is the word a preset asks with, `name` the one a report carries: two runtimes of one drafter share it.
    `weights`: it is a model, to be identified by them; the others propose from the text itself. `port`: it is written
    anew after a reference runtime, so its parity must be shown. `rounds`: its weights can be rounded on load.
    `chooses`: it asks another proposer from block to block, so a block has as many drafts as that one gave, and what
    share of them was accepted says nothing of either. `runtime` is the package that computes, or `python`.
    """

    kind: str
    name: str
    weights: bool = True
    port: bool = True
    rounds: bool = False
    chooses: bool = False
    runtime: str = "mlx"


NGRAM = DrafterKind("ngram", "ngram", weights=False, port=False, runtime=PYTHON)
"""Prompt lookup: what followed the latest tokens where they stood before."""

SMALL_MODEL = DrafterKind("model", "model", port=False, rounds=True)
"""An ordinary small model in the verifier's own runtime, held to its reference implementation as the verifier is."""

DFLASH = DrafterKind("dflash", "dflash")
DFLASH_TORCH = DrafterKind("dflash-torch", "dflash", runtime="torch")
"""The reference of DFLASH."""

COMBINED = DrafterKind("combined", "combined", chooses=True)
"""Lookup where it copies far, DFLASH elsewhere."""

_known = {kind.kind: kind for kind in (NGRAM, SMALL_MODEL, DFLASH, DFLASH_TORCH, COMBINED)}

DRAFTERS: Mapping[str, DrafterKind] = MappingProxyType(_known)
"""Every kind that this process knows, by the word presets ask with."""


def register(kind: DrafterKind) -> None:
    """Add a kind.

    Raises:
        ValueError: there is one of that word.
    """
    if kind.kind in _known:
        raise ValueError(f"drafter {kind.kind}: is there")
    _known[kind.kind] = kind


def drafter_named(name: str) -> DrafterKind | None:
    """The kind that reports call `name`, shuffled or not; of several runtimes the first. None for a name unknown."""
    plain = name.removeprefix(SHUFFLED)
    return next((kind for kind in _known.values() if kind.name == plain), None)
