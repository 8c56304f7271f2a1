"""The tensors of a model folder, read one at a time in float32, packed ones dequantised by MLX."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor

from harness.models.folder.model_folder import open_folder
from harness.models.folder.safetensors_file import TensorEntry
from harness.models.folder.weights import WeightFile

FLOATING = ("F64", "F32", "F16", "BF16")
UNBIASED_MODES = {(4, 32): "mxfp4", (8, 32): "mxfp8", (4, 16): "nvfp4"}
"""MLX's quantisation without biases by its bits and group size, which no two modes share."""


@dataclass(frozen=True)
class Packing:
    """How MLX packed a tensor."""

    bits: int
    group_size: int
    mode: str


@dataclass(frozen=True)
class StoredWeights:
    """The weight files of a folder.

    A packed tensor is known by the `scales` beside its `weight`; bits and group size follow from the shapes, given
    the columns that whoever reads it expects, and not from the config that mlx-lm believes.
    """

    folder: Path

    @cached_property
    def _weights(self) -> tuple[WeightFile, ...]:
        """The weight files. Raises ModelError: weights are missing or damaged."""
        return open_folder(self.folder).weights

    @cached_property
    def _files(self) -> dict[str, tuple[Path, TensorEntry]]:
        """Every tensor by name."""
        return {entry.name: (file.path, entry) for file in self._weights for entry in file.tensors}

    @cached_property
    def _open(self) -> dict[Path, Any]:
        return {path: safe_open(path, framework="pt") for path in (file.path for file in self._weights)}

    def names(self) -> frozenset[str]:
        """The names of all tensors."""
        return frozenset(self._files)

    def packed(self) -> bool:
        """Whether any tensor is quantised."""
        return any(name.endswith(".scales") for name in self._files)

    def fits(self, name: str, shape: tuple[int, ...]) -> bool:
        """Whether the tensor, dequantised, has this shape, and its type is one that can be read here."""
        entry = self._files[name][1]
        if _beside(name, "scales") not in self._files:
            return entry.shape == shape and entry.dtype in FLOATING
        same = len(entry.shape) == len(shape) > 1 and entry.shape[:-1] == shape[:-1]
        return same and self._packing(name, shape[-1]) is not None

    def read(self, name: str, columns: int, rows: Tensor | None = None) -> Tensor:
        """A tensor in float32, or some of its rows; `columns` is the size of its last dimension when not packed.

        A packed value is `scale * q + bias` computed in float32 from the stored scale and bias: not rounded to their
        type. Scales of the modes without biases are what MLX makes of them, in float32 too.
        """
        packing = self._packing(name, columns) if _beside(name, "scales") in self._files else None
        values = self._read(name, rows)
        if packing is None:
            return values.to(torch.float32)
        dense = mx.dequantize(
            _array(values),
            self._beside(name, "scales", rows),
            self._beside(name, "biases", rows),
            packing.group_size,
            packing.bits,
            packing.mode,
            self._beside(name, "global_scale", None),
            mx.float32,
        )
        return torch.from_numpy(np.array(dense, copy=False))

    def _packing(self, name: str, columns: int) -> Packing | None:
        packed, groups = (self._files[key][1].shape[-1] for key in (name, _beside(name, "scales")))
        if (32 * packed) % columns or groups == 0 or columns % groups:
            return None
        bits, group_size = 32 * packed // columns, columns // groups
        mode = "affine" if _beside(name, "biases") in self._files else UNBIASED_MODES.get((bits, group_size))
        return None if mode is None else Packing(bits, group_size, mode)

    def _beside(self, name: str, kind: str, rows: Tensor | None) -> Any:
        key = _beside(name, kind)
        return _array(self._read(key, rows)) if key in self._files else None

    def _read(self, name: str, rows: Tensor | None) -> Tensor:
        """As stored; the file is mapped, so that rows alone do not cost the whole tensor."""
        values: Tensor = self._open[self._files[name][0]].get_tensor(name)
        if values.dtype == torch.uint32:
            values = values.view(torch.int32)
        return values if rows is None else values[rows]


def _beside(name: str, kind: str) -> str:
    return f"{name.removesuffix('.weight')}.{kind}"


def _array(values: Tensor) -> mx.array:
    """For MLX: packed words as such, floating point in float32."""
    if values.dtype == torch.int32:
        return mx.array(values.numpy().view(np.uint32))
    return mx.array((values.to(torch.float32) if values.is_floating_point() else values).numpy())
