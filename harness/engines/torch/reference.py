"""The reference a loaded verifier is held to: transformers in float32 over the weights of the same folder."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import torch
import transformers
from torch import Tensor, nn

from harness.base.errors import ModelError
from harness.engines.torch.stored import StoredWeights
from harness.engines.torch.streamed import on_meta, streamed, units
from harness.engines.torch.tensor_names import Piece, pieces_of
from harness.models.folder.model_folder import open_folder
from harness.models.library_errors import told_in_one_line
from harness.models.tokenizer import library_options

SHOWN = 3
"""Tensors that did not fit which an error names."""


@dataclass(frozen=True)
class TensorSource:
    """A tensor of the reference: its shape, and the stored tensors that fill it."""

    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]

    @property
    def columns(self) -> int:
        """Size of the last dimension."""
        return self.shape[-1] if self.shape else 1


@dataclass(frozen=True)
class Reference:
    """transformers' architecture, without memory of its own, and where each of its tensors is stored."""

    model: Any
    stored: StoredWeights
    sources: dict[str, TensorSource]

    def name(self) -> str:
        """What it is, with versions, for the record of a comparison."""
        packed = ", weights dequantised" if self.stored.packed() else ""
        return f"transformers {transformers.__version__}, torch {torch.__version__}, float32{packed}"

    def logits(self, ids: list[int]) -> Tensor:
        """Float32 logits (tokens, vocabulary) of `ids`; holds one layer, or the head, at a time.

        Raises:
            ModelError: transformers cannot run it so.
        """
        with _one_line(self.stored.folder), torch.inference_mode(), streamed(self.model, self.read):
            logits: Tensor = self.model(torch.tensor([ids]), use_cache=False).logits[0]
        return logits

    def read(self, name: str, rows: Tensor | None = None) -> Tensor:
        """A tensor of transformers' by its name there, in float32, or some rows of it."""
        # MLX keeps the memory of what it let go: the verifier that ran before, the layer that was dequantised before.
        mx.clear_cache()
        source = self.sources[name]
        if len(source.pieces) == 1:
            only = self.stored.read(source.pieces[0].name, source.columns, rows)
            return only.reshape(source.shape if rows is None else (-1, *source.shape[1:]))
        filled = torch.empty(source.shape)
        for piece in source.pieces:
            filled[piece.index] = self.stored.read(piece.name, source.columns)
        return filled


def open_reference(folder: Path) -> Reference:
    """The reference for the model in `folder`, of which it runs the text model alone; reads no weights yet.

    Raises:
        ModelError: transformers does not know the architecture, or the stored tensors are not those it has.
    """
    options = library_options(open_folder(folder))
    with _one_line(folder), on_meta():
        config = transformers.AutoConfig.from_pretrained(folder, **options)
        model = transformers.AutoModelForCausalLM.from_config(
            config.get_text_config(), dtype=torch.float32, trust_remote_code=options["trust_remote_code"]
        )
    stored = StoredWeights(folder)
    return Reference(model.eval(), stored, _sources(folder, model, stored))


def _one_line(folder: Path) -> AbstractContextManager[None]:
    """Tell in one line what transformers does not like."""
    transformers.utils.logging.set_verbosity_error()
    return told_in_one_line(f"{folder}: transformers cannot run it", "so there is no reference for it")


def _sources(folder: Path, model: nn.Module, stored: StoredWeights) -> dict[str, TensorSource]:
    """Where each tensor of `model` is stored; of those tied together, under the name of the first."""
    names = stored.names()
    first: dict[int, str] = {}
    sources: dict[str, TensorSource] = {}
    missing = []
    for slot in (slot for unit in units(model) for slot in unit.slots):
        shape = tuple(slot.tensor.shape)
        pieces = pieces_of(first.setdefault(id(slot.tensor), slot.name), shape, names)
        if pieces and all(stored.fits(piece.name, _part(slot.tensor, piece)) for piece in pieces):
            sources[slot.name] = TensorSource(shape, pieces)
        else:
            missing.append(slot.name)
    if missing:
        used = {piece.name for source in sources.values() for piece in source.pieces}
        left = sorted(name for name in names - used if not name.endswith((".scales", ".biases")))
        raise ModelError(
            f"{folder}: {type(model).__name__} of transformers has tensors that are not in it, or in no shape and type "
            f"known here: {_some(missing)}; in it and not used: {_some(left)}: there is no reference for it"
        )
    return sources


def _part(tensor: Tensor, piece: Piece) -> tuple[int, ...]:
    return tuple(tensor.to("meta")[piece.index].shape)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "none") + more
