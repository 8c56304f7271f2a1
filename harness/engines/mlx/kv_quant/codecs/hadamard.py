"""A random rotation before any other codec: outliers of single channels are spread over the whole head.

Signs drawn once from a fixed seed, then the Walsh-Hadamard transform (as QuIP# and QuaRot do it for weights and K/V).
Both are orthogonal, so errors keep their energy, and nothing has to be stored.
"""

from dataclasses import dataclass

import mlx.core as mx

from harness.base.errors import EngineError
from harness.engines.mlx.kv_quant.codec import Codec, Encoded

SEED = 20


@dataclass(frozen=True)
class Hadamard:
    """`inner` on rotated heads, whose size must be a power of two."""

    inner: Codec

    @property
    def scales(self) -> str:
        """Those of the codec inside."""
        return self.inner.scales

    def encode(self, x: mx.array) -> Encoded:
        """Rotate, then encode."""
        size = x.shape[-1]
        if size & (size - 1):
            raise EngineError(f"heads of {size} values cannot be rotated; the transform needs a power of two")
        return self.inner.encode(mx.hadamard_transform(x.astype(mx.float32) * _signs(size), scale=size**-0.5))

    def decode(self, encoded: Encoded) -> mx.array:
        """Decode, then rotate back: the transform is its own inverse."""
        rotated = self.inner.decode(encoded)
        size = rotated.shape[-1]
        return mx.hadamard_transform(rotated, scale=size**-0.5) * _signs(size)

    def entropy_bits(self, encoded: Encoded) -> float:
        """Of the codec inside."""
        return self.inner.entropy_bits(encoded)


def wrap(inner: Codec) -> Hadamard:
    """`inner` behind the rotation."""
    return Hadamard(inner)


def _signs(size: int) -> mx.array:
    """+1 or -1 for each channel, the same ones every time."""
    return mx.where(mx.random.bernoulli(shape=(size,), key=mx.random.key(SEED)), 1.0, -1.0)
