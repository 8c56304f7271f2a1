"""PyTorch behind what a bounded cache asks of a library."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from harness.engines.torch.device import Device


@dataclass(frozen=True)
class TorchArrays:
    """Tensors on one device, computed as they are asked for."""

    device: Device

    def take(self, array: Tensor, slots: NDArray[Any] | range) -> Tensor:
        """As `Arrays`."""
        return array.index_select(2, torch.from_numpy(np.asarray(slots, dtype=np.int64)).to(array.device))

    def join(self, arrays: Sequence[Tensor], axis: int) -> Tensor:
        """As `Arrays`."""
        return torch.cat(list(arrays), dim=axis)

    def zeros(self, shape: Sequence[int], like: Tensor) -> Tensor:
        """As `Arrays`."""
        return like.new_zeros(tuple(shape))

    def cast(self, array: Tensor, like: Tensor) -> Tensor:
        """As `Arrays`."""
        return array.to(like.dtype)

    def mask(self, seen: NDArray[Any] | None, queries: int, keys: int) -> Tensor | None:
        """As `Arrays`: (1, 1, queries, keys), true where a query sees; None for a single query that sees all."""
        if seen is None and queries == 1:
            return None
        if seen is None:
            seen = np.tril(np.ones((queries, keys), dtype=bool), keys - queries)
        return torch.from_numpy(np.ascontiguousarray(seen)).to(self.device.name)[None, None]

    def evaluate(self, *arrays: Any) -> None:
        """As `Arrays`: they are being computed already."""
        self.device.synchronise()

    def release(self) -> None:
        """Nothing: PyTorch's allocator takes back what is let go."""

    def now(self) -> float:
        """As `Arrays`."""
        return self.device.now()
