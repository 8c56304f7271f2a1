"""The lattice D4 (integers with an even sum, in fours), at a fixed rate of `bits` a value beside step and offset."""

from dataclasses import dataclass

import mlx.core as mx

from harness.base.errors import UsageError
from harness.engines.mlx.kv_quant.codec import Encoded, entropy
from harness.engines.mlx.kv_quant.lattice import from_box, nearest_even, pack, scale_to_box, unpack

LEVELS = {2: 4, 3: 9, 4: 19, 6: 75}
"""Levels a coordinate by bits a value. levels**4 / 2 points fit into 4 * bits bits; an odd number makes the sum of the
coordinates even exactly where their number to the base `levels` is, so that its last bit need not be stored."""


@dataclass(frozen=True)
class D4:
    """Points in the box of `levels`^4, scaled to the extremes of each group; 32 / `group` bits a value for that."""

    bits: int
    group: int
    scales = "float16 step and offset, from the extremes of the group"

    @property
    def levels(self) -> int:
        """Levels a coordinate."""
        return LEVELS[self.bits]

    def encode(self, x: mx.array) -> Encoded:
        """Codes packed into bytes, steps and offsets."""
        y, step, offset = scale_to_box(x, self.group, self.levels, margin=0.0)
        points = nearest_even(y.reshape(*x.shape[:-1], -1, 4), self.levels).astype(mx.uint32)
        place = mx.array([self.levels**k for k in range(4)], dtype=mx.uint32)
        return Encoded(
            {"codes": pack((points * place).sum(axis=-1) >> 1, 4 * self.bits), "step": step, "offset": offset}
        )

    def decode(self, encoded: Encoded) -> mx.array:
        """The points, scaled back."""
        step, offset = encoded.arrays["step"], encoded.arrays["offset"]
        points = self._points(encoded).reshape(*step.shape, self.group)
        return from_box(points.astype(mx.float32), step, offset, margin=0.0)

    def entropy_bits(self, encoded: Encoded) -> float:
        """Three coordinates by their frequencies, the fourth by those among its parity, which the others give."""
        points = self._points(encoded)
        parity = entropy(points & 1) / 4
        side = encoded.arrays["step"].nbytes + encoded.arrays["offset"].nbytes
        return entropy(points) - parity + 8.0 * side

    def _points(self, encoded: Encoded) -> mx.array:
        """Coordinates (..., blocks, 4), uint32."""
        number = unpack(encoded.arrays["codes"], 4 * self.bits) << 1
        first, *rest = [number // self.levels**k % self.levels for k in range(4)]
        if self.levels % 2 == 0:
            first = first | ((rest[0] + rest[1] + rest[2]) & 1)
        return mx.stack([first, *rest], axis=-1)


def make(bits: int | None, group: int) -> D4:
    """Raises: UsageError: a rate without a number of levels, or a group that is no multiple of 8."""
    if bits not in LEVELS or group % 8:
        raise UsageError(
            f"codec d4: bits {bits}, group {group}; bits are one of {tuple(LEVELS)}, groups multiples of 8"
        )
    return D4(bits, group)
