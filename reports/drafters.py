"""The kinds of drafters: what proposes tokens, by the word presets ask with and the name reports carry."""

from dataclasses import dataclass
from typing import Literal, get_args

from reports.plugins.entry_points import Plugin, name_fault, of_group
from reports.plugins.vocabulary import Vocabulary

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
    `doubts`: it knows how likely each of its drafts is, so it can be told to propose only what it is sure of.
    `chooses`: it asks another proposer from block to block, so a block has as many drafts as that one gave, and what
    share of them was accepted says nothing of either. `runtime` is the package that computes, or `python`.
    """

    kind: str
    name: str
    weights: bool = True
    port: bool = True
    rounds: bool = False
    doubts: bool = False
    chooses: bool = False
    runtime: str = "mlx"


LONGEST_REST = 16
"""Blocks without drafts that a drafter rests for at most."""


def rest_after(failures: int) -> int:
    """For how many blocks a drafter that is told to be `sure` proposes nothing, after so many proposals in a row that
    were empty or wrong from the first draft on: 0 after one, then 1, 2, 4, 8 and 16 each time.

    Chosen of five such rows, together with a chance of 0.2, on 15 streams of SmolLM2 that no preset asks for, 9 of them
    of modules that its drafter never saw: by the costs of blocks in committed evidence, 0.967 plain steps a step there
    (0.960 in the worst stream; 0.615 uncut) and 2.33 on its own templates (2.29 uncut).
    """
    return min(2 ** min(failures - 2, LONGEST_REST), LONGEST_REST) if failures > 1 else 0


@dataclass(frozen=True)
class DrafterEntry:
    """What an entry point of `k3.drafters` names; `loaded_by` is the `package.module:function` that is called as those
    of `harness.engines.mlx.drafters.load` are. Its module imports no model library."""

    kind: DrafterKind
    loaded_by: str


NGRAM = DrafterKind("ngram", "ngram", weights=False, port=False, runtime=PYTHON)
"""Prompt lookup: what followed the latest tokens where they stood before."""

SMALL_MODEL = DrafterKind("model", "model", port=False, rounds=True)
"""An ordinary small model in the verifier's own runtime, held to its reference implementation as the verifier is."""

DFLASH = DrafterKind("dflash", "dflash", doubts=True)
DFLASH_TORCH = DrafterKind("dflash-torch", "dflash", doubts=True, runtime="torch")
"""The reference of DFLASH."""

COMBINED = DrafterKind("combined", "combined", chooses=True)
"""Lookup where it copies far, DFLASH elsewhere."""

_known = {kind.kind: kind for kind in (NGRAM, SMALL_MODEL, DFLASH, DFLASH_TORCH, COMBINED)}

SHIPPED = frozenset(_known.values())
"""The kinds that ship."""

_elsewhere: dict[str, str] = {}


def register(kind: DrafterKind, loaded_by: str | None = None) -> None:
    """Add a kind of another package; `loaded_by` as in `DrafterEntry`, none where it is only judged.

    Raises:
        ValueError: there is one of that word, or one of that name that is no port as it is: another runtime of a
            drafter must be one, whose parity is shown.
    """
    if kind.kind in _known:
        raise ValueError(f"drafter {kind.kind}: is there")
    same = [known for known in _known.values() if known.name == kind.name]
    if kind.name.startswith(SHUFFLED) or any(_traits(known) != _traits(kind) or not known.port for known in same):
        raise ValueError(f"drafter {kind.kind}: another drafter goes by the name {kind.name}")
    _known[kind.kind] = kind
    if loaded_by is not None:
        _elsewhere[kind.kind] = loaded_by


def _traits(kind: DrafterKind) -> tuple[bool, ...]:
    return kind.weights, kind.port, kind.rounds, kind.doubts, kind.chooses


def _add(plugin: Plugin) -> None:
    """The kind of a plug-in.

    Raises:
        PluginError: it cannot be loaded, or is called by another word than its entry point or as another kind is.
    """
    entry = plugin.load(DrafterEntry)
    if entry.kind.kind != plugin.name or name_fault(plugin):
        raise plugin.error(name_fault(plugin) or f"its drafter is of kind {entry.kind.kind}; name both alike")
    try:
        register(entry.kind, entry.loaded_by)
    except ValueError as error:
        raise plugin.error(str(error)) from error


DRAFTERS = Vocabulary(_known, "drafters", _add)
"""Every kind that this process knows, by the word presets ask with, and those of plug-ins once they are asked for."""


def loaded_by(kind: str) -> str | None:
    """Where another package loads the drafter of this kind; none for one that ships."""
    return _elsewhere.get(kind)


def drafter_named(name: str) -> DrafterKind | None:
    """The kind that reports call `name`, shuffled or not; of several runtimes the first. None for a name unknown."""
    plain = name.removeprefix(SHUFFLED)
    if all(kind.name != plain for kind in _known.values()):
        for plugin in of_group("drafters"):
            DRAFTERS.get(plugin.name)
    return next((kind for kind in _known.values() if kind.name == plain), None)
