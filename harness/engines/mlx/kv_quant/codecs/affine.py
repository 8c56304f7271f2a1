"""MLX's own affine quantisation (`mx.quantize`), its scales and biases kept in float16."""

from dataclasses import dataclass

import mlx.core as mx

from harness.base.errors import UsageError
from harness.engines.mlx.kv_quant.codec import Encoded, entropy, grouped, half

BITS = (2, 3, 4, 5, 6, 8)
GROUPS = (32, 64, 128)


@dataclass(frozen=True)
class Affine:
    """`x ~ code * scale + bias` in groups of `group` values; bits a value are `bits` + 32 / `group`.

    `mx.quantize` gives scales in the type of its input. They are kept in float16 here whatever the model computes in,
    as a model in float16 would keep them.
    """

    bits: int
    group: int
    scales = "float16 scale and bias, from the extremes of the group"

    def encode(self, x: mx.array) -> Encoded:
        """Codes packed into uint32, scales and biases."""
        grouped(x, self.group)
        codes, scales, biases = mx.quantize(x.astype(mx.float32), group_size=self.group, bits=self.bits)
        return Encoded({"codes": codes, "scales": half(scales, "scales are"), "biases": half(biases, "biases are")})

    def decode(self, encoded: Encoded) -> mx.array:
        """Dequantised by MLX."""
        return self._restore(encoded, encoded.arrays["scales"], encoded.arrays["biases"])

    def entropy_bits(self, encoded: Encoded) -> float:
        """Codes by their frequencies, scales and biases as stored."""
        scales = encoded.arrays["scales"]
        codes = self._restore(encoded, mx.ones_like(scales), mx.zeros_like(scales)).astype(mx.uint8)
        return entropy(codes) + 8.0 * (scales.nbytes + encoded.arrays["biases"].nbytes)

    def _restore(self, encoded: Encoded, scales: mx.array, biases: mx.array) -> mx.array:
        codes, scales, biases = encoded.arrays["codes"], scales.astype(mx.float32), biases.astype(mx.float32)
        return mx.dequantize(codes, scales, biases, group_size=self.group, bits=self.bits)


def make(bits: int | None, group: int) -> Affine:
    """Raises: UsageError: bits or a group size that MLX does not have."""
    if bits not in BITS or group not in GROUPS:
        raise UsageError(f"codec affine: bits {bits}, group {group}; bits are one of {BITS}, groups of {GROUPS}")
    return Affine(bits, group)
