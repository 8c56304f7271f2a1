"""Where a model folder keeps what transformers calls by another name.

mlx-lm and transformers name nearly every tensor alike. They differ in what wraps the language model, and in experts:
transformers holds one tensor for the gates and ups of all experts of a layer, mlx-lm one for the gates and one for the
ups, and a checkpoint as published may hold one an expert.
"""

from collections.abc import Container
from dataclasses import dataclass

WRAPPERS = (("", ""), ("", "language_model."), ("model.", "model.language_model."))
"""What stands at the head of a name in transformers' text model, and in a folder that may hold more than text."""

STACKED_EXPERTS = (
    (".experts", ".experts.switch_glu"),  # Gemma 4
    (".experts", ".switch_mlp"),  # Qwen 2 and 3 MoE, OLMoE, DeepSeek and their kin
)
"""The module of all experts of a layer, in transformers and in mlx-lm."""

Index = tuple[int | slice, ...]


@dataclass(frozen=True)
class Piece:
    """A stored tensor, and the part of transformers' tensor that it fills."""

    name: str
    index: Index = ()


def pieces_of(name: str, shape: tuple[int, ...], stored: Container[str]) -> tuple[Piece, ...]:
    """The tensors of `stored` that together are transformers' `name` of this shape; empty if there are none."""
    for wanted, held in WRAPPERS:
        if name.startswith(wanted):
            found = _pieces(held + name.removeprefix(wanted), shape, stored)
            if found:
                return found
    return ()


def _pieces(name: str, shape: tuple[int, ...], stored: Container[str]) -> tuple[Piece, ...]:
    if name in stored:
        return (Piece(name),)
    experts, _, kind = name.rpartition(".")
    if kind == "gate_up_proj" and len(shape) == 3:
        half = shape[1] // 2
        parts = {"gate_proj": slice(0, half), "up_proj": slice(half, 2 * half)}
    elif kind == "down_proj" and len(shape) == 3:
        parts = {"down_proj": slice(None)}
    else:
        return ()
    return _stacked(experts, parts, stored) or _separate(experts, shape[0], parts, stored)


def _stacked(experts: str, parts: dict[str, slice], stored: Container[str]) -> tuple[Piece, ...]:
    """One tensor for all experts, as mlx-lm has them."""
    for theirs, ours in STACKED_EXPERTS:
        module = experts.removesuffix(theirs) + ours
        found = tuple(Piece(f"{module}.{part}.weight", (slice(None), rows)) for part, rows in parts.items())
        if experts.endswith(theirs) and all(piece.name in stored for piece in found):
            return found
    return ()


def _separate(experts: str, count: int, parts: dict[str, slice], stored: Container[str]) -> tuple[Piece, ...]:
    """One tensor an expert, as published."""
    found = tuple(
        Piece(f"{experts}.{expert}.{part}.weight", (expert, rows))
        for expert in range(count)
        for part, rows in parts.items()
    )
    return found if all(piece.name in stored for piece in found) else ()
