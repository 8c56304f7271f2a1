"""What a bounded cache asks of the library whose arrays it holds.

An array has `shape`, `dtype` and `nbytes`; slices of it are read and written in place, as MLX and PyTorch both do.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

Array = Any
"""An array of the library; the two have no type in common."""


class Arrays(Protocol):
    """One library on one device."""

    def take(self, array: Array, slots: NDArray[Any] | range) -> Array:
        """A copy of `array` (1, heads, slots, size) with these slots alone, in that order."""
        ...

    def join(self, arrays: Sequence[Array], axis: int) -> Array:
        """All in a row along `axis`."""
        ...

    def zeros(self, shape: Sequence[int], like: Array) -> Array:
        """Zeros of the type of `like`, where it lies."""
        ...

    def cast(self, array: Array, like: Array) -> Array:
        """`array` in the type of `like`."""
        ...

    def mask(self, seen: NDArray[Any] | None, queries: int, keys: int) -> Array | str | None:
        """Who sees what, as attention of this library wants to be told; `seen` is (queries, keys), None for all that
        is not later than the query."""
        ...

    def evaluate(self, *arrays: Any) -> None:
        """Compute them, and wait until they are there."""
        ...

    def release(self) -> None:
        """Give memory back that nobody holds."""
        ...

    def now(self) -> float:
        """The clock, once everything dispatched before is done, where the library can tell."""
        ...
