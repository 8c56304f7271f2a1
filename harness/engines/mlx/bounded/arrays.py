"""MLX behind what a bounded cache asks of a library."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from numpy.typing import NDArray

from harness.base import clock


class MlxArrays:
    """Arrays on MLX's default device; nothing is computed before it is evaluated."""

    def take(self, array: mx.array, slots: NDArray[Any] | range) -> mx.array:
        """As `Arrays`."""
        indices = mx.arange(slots.start, slots.stop) if isinstance(slots, range) else mx.array(slots)
        return mx.take(array, indices, axis=2)

    def join(self, arrays: Sequence[mx.array], axis: int) -> mx.array:
        """As `Arrays`."""
        return mx.concatenate(list(arrays), axis=axis)

    def zeros(self, shape: Sequence[int], like: mx.array) -> mx.array:
        """As `Arrays`."""
        return mx.zeros(tuple(shape), like.dtype)

    def cast(self, array: mx.array, like: mx.array) -> mx.array:
        """As `Arrays`."""
        return array.astype(like.dtype)

    def mask(self, seen: NDArray[Any] | None, queries: int, keys: int) -> mx.array | str | None:
        """As `Arrays`; mlx-lm's layers know a causal mask by its name."""
        if seen is not None:
            return mx.array(seen)
        return "causal" if queries > 1 else None

    def evaluate(self, *arrays: Any) -> None:
        """As `Arrays`."""
        mx.eval(*arrays)

    def release(self) -> None:
        """As `Arrays`."""
        mx.clear_cache()

    def now(self) -> float:
        """The clock as it is: whoever times evaluates first."""
        return clock.now()


ARRAYS = MlxArrays()
