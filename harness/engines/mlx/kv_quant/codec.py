"""What a codec of K/V is: it turns numbers into arrays that are stored, and those back into numbers.

A codec works along the last axis (one head), so that what it makes of one position never depends on another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import mlx.core as mx
import numpy as np

from harness.base.errors import EngineError, UsageError
from harness.engines.codec_names import CodecName, parse_codec


@dataclass(frozen=True)
class Encoded:
    """K or V as stored: every array counts, whatever it is for. Leading axes are those of the input."""

    arrays: Mapping[str, mx.array]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(array.nbytes) for array in self.arrays.values())


class Codec(Protocol):
    """`encode` takes (..., head size); `decode` gives float32 of that shape."""

    @property
    def scales(self) -> str:
        """How values are scaled to the codes' range, in words for the report."""
        ...

    def encode(self, x: mx.array) -> Encoded:
        """The arrays to store.

        Raises:
            EngineError: the head size is none this codec can work on, or the numbers are beyond its scales.
        """
        ...

    def decode(self, encoded: Encoded) -> mx.array:
        """The numbers that the arrays stand for."""
        ...

    def entropy_bits(self, encoded: Encoded) -> float:
        """Bits in all if the codes were entropy-coded by their frequencies in this tensor, scales as stored."""
        ...


def make_codec(name: str | CodecName) -> Codec:
    """The codec of this name, from the file of its kind: `make(bits, group)`, or `wrap(inner)` of one that wraps.

    Raises:
        UsageError: no such kind, or settings that the kind does not have.
    """
    parsed = parse_codec(name) if isinstance(name, str) else name
    module = import_module(f"harness.engines.mlx.kv_quant.codecs.{parsed.kind}")
    if hasattr(module, "wrap") != (parsed.inner is not None):
        raise UsageError(
            f"codec {parsed.kind}: {'wraps another, as in' if parsed.inner is None else 'wraps none, not'} "
            f"{parsed.kind}-affine4"
        )
    codec: Codec = module.wrap(make_codec(parsed.inner)) if parsed.inner else module.make(parsed.bits, parsed.group)
    return codec


def grouped(x: mx.array, group: int) -> mx.array:
    """(..., head size) as float32 (..., groups, group).

    Raises:
        EngineError: the head size is no multiple of `group`.
    """
    size = x.shape[-1]
    if size % group:
        raise EngineError(f"heads of {size} values do not divide into groups of {group}; use another group size")
    return x.astype(mx.float32).reshape(*x.shape[:-1], size // group, group)


def half(x: mx.array, what: str) -> mx.array:
    """`x` as float16.

    Raises:
        EngineError: a number is beyond float16.
    """
    rounded = x.astype(mx.float16)
    if not mx.all(mx.isfinite(rounded)).item():
        raise EngineError(f"{what} beyond float16; these K/V cannot be stored with float16 scales")
    return rounded


def entropy(symbols: mx.array) -> float:
    """Bits in all of an ideal code for `symbols` (small non-negative integers) with their own frequencies."""
    counts = np.bincount(np.array(symbols).ravel()).astype(np.float64)
    counts = counts[counts > 0]
    return float((counts * -np.log2(counts / counts.sum())).sum())
