"""How the tensors and settings of a GGUF become those of a model folder."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.base.errors import ModelError
from harness.models.gguf.gguf_file import FloatArray, GgufFile

Transform = Callable[[FloatArray], FloatArray]


def unchanged(values: FloatArray) -> FloatArray:
    """The tensor as it is."""
    return values


@dataclass(frozen=True)
class Placement:
    """Tensor `source` of the GGUF goes to `target`, same shape, after `transform`."""

    source: str
    target: str
    transform: Transform = unchanged


@dataclass(frozen=True)
class TensorLayout:
    """A whole model: its config.json without token ids, and where every tensor goes."""

    config: dict[str, Any]
    placements: tuple[Placement, ...]


def check_complete(gguf: GgufFile, layout: TensorLayout) -> None:
    """Every tensor of the file is placed, and every placed one is in the file.

    A tensor left over (a bias, a RoPE scaling table) would silently make another model.

    Raises:
        ModelError: one is left over or missing.
    """
    placed = {placement.source for placement in layout.placements}
    for name in sorted(placed ^ set(gguf.tensors)):
        problem = "has no place in the converted model" if name in gguf.tensors else "is missing"
        raise ModelError(
            f"{gguf.path.name}: tensor {name} {problem}: this kind of {gguf.architecture} is not supported"
        )
