"""The lattice E8, in eights, at a fixed rate of `bits` a value beside step and offset.

E8 is D8 and D8 shifted by one half in every coordinate; the nearest point is the nearer of the nearest ones of both
(Conway and Sloane 1982). With 2^bits levels a coordinate, either half has 2^(8 * bits - 1) points: 8 * bits bits in
all.
"""

from dataclasses import dataclass

import mlx.core as mx

from harness.base.errors import UsageError
from harness.engines.mlx.kv_quant.codec import Encoded, entropy
from harness.engines.mlx.kv_quant.lattice import from_box, nearest_even, pack, scale_to_box, unpack

BITS = (2, 3, 4, 6)
MARGIN = 0.25
"""Coordinates are scaled to [1/4, levels - 3/4], the middle of the boxes of both halves."""


@dataclass(frozen=True)
class E8:
    """Points in the box of 2^`bits` levels a coordinate, scaled to the extremes of each group; 32 / `group` bits a
    value for that. The last coordinate's lowest bit follows from the others' sum; in its place stands which half."""

    bits: int
    group: int
    scales = "float16 step and offset, from the extremes of the group"

    @property
    def levels(self) -> int:
        """Levels a coordinate."""
        return 1 << self.bits

    def encode(self, x: mx.array) -> Encoded:
        """Codes packed into bytes, steps and offsets."""
        y, step, offset = scale_to_box(x, self.group, self.levels, MARGIN)
        points, shifted = nearest_e8(y.reshape(*x.shape[:-1], -1, 8), self.levels)
        fields = points.astype(mx.uint32)
        last = (fields[..., 7:] & ~mx.array(1, mx.uint32)) | shifted.astype(mx.uint32)
        fields = mx.concatenate([fields[..., :7], last], axis=-1).reshape(*x.shape[:-1], -1, 4)
        place = mx.array([1 << self.bits * k for k in range(4)], dtype=mx.uint32)
        return Encoded({"codes": pack((fields * place).sum(axis=-1), 4 * self.bits), "step": step, "offset": offset})

    def decode(self, encoded: Encoded) -> mx.array:
        """The points, scaled back."""
        points, shifted = self._points(encoded)
        step, offset = encoded.arrays["step"], encoded.arrays["offset"]
        points = points.astype(mx.float32) + 0.5 * shifted.astype(mx.float32)
        return from_box(points.reshape(*step.shape, self.group), step, offset, MARGIN)

    def entropy_bits(self, encoded: Encoded) -> float:
        """Which half by its frequency; seven coordinates by theirs in that half, the eighth among its parity."""
        points, shifted = self._points(encoded)
        labelled = points + shifted * self.levels
        side = encoded.arrays["step"].nbytes + encoded.arrays["offset"].nbytes
        of_half, given = entropy(shifted), 8 * entropy(shifted)
        parity = (entropy((points & 1) + 2 * shifted) - given) / 8
        return of_half + entropy(labelled) - given - parity + 8.0 * side

    def _points(self, encoded: Encoded) -> tuple[mx.array, mx.array]:
        """Integer coordinates (..., blocks, 8) and which half (..., blocks, 1), uint32."""
        codes = unpack(encoded.arrays["codes"], 4 * self.bits)
        fields = mx.stack([(codes >> self.bits * k) & (self.levels - 1) for k in range(4)], axis=-1)
        fields = fields.reshape(*codes.shape[:-1], -1, 8)
        shifted = fields[..., 7:] & 1
        last = (fields[..., 7:] - shifted) | (fields[..., :7].sum(axis=-1, keepdims=True) & 1)
        return mx.concatenate([fields[..., :7], last], axis=-1), shifted


def nearest_e8(y: mx.array, levels: int) -> tuple[mx.array, mx.array]:
    """The nearest point of the box's E8 points to y (..., 8): integer coordinates, and 1 (..., 1) where one half is to
    be added to each."""
    plain, other = nearest_even(y, levels), nearest_even(y - 0.5, levels)
    of_plain = mx.square(y - plain).sum(axis=-1, keepdims=True)
    of_other = mx.square(y - 0.5 - other).sum(axis=-1, keepdims=True)
    shifted = of_other < of_plain
    return mx.where(shifted, other, plain), shifted


def make(bits: int | None, group: int) -> E8:
    """Raises: UsageError: a rate that cannot be packed, or a group that is no multiple of 8."""
    if bits not in BITS or group % 8:
        raise UsageError(f"codec e8: bits {bits}, group {group}; bits are one of {BITS}, groups multiples of 8")
    return E8(bits, group)
