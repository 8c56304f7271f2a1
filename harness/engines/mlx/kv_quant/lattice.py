"""What lattice codecs share: scaling a group into a box of lattice points, the nearest even point, packing codes.

Conway and Sloane, "Fast quantizing and decoding algorithms for lattice quantizers and codes" (1982): the nearest point
of D_n (integers with an even sum) is the rounded one, or, where its sum is odd, the one that rounds the coordinate with
the largest error the other way. Here points are confined to the box [0, levels - 1]^n that codes can name; the rule
stays exact, since the cheapest change of parity inside the box is again one coordinate by one step.
"""

import mlx.core as mx

from harness.engines.mlx.kv_quant.codec import grouped, half

SMALLEST_STEP = 2.0**-24
"""The smallest number float16 holds: the step of a group whose values are all equal."""


def scale_to_box(x: mx.array, group: int, levels: int, margin: float) -> tuple[mx.array, mx.array, mx.array]:
    """(..., head) -> coordinates (..., groups, group) in [margin, levels - 1 + margin], step and offset in float16.

    Step and offset are (..., groups). Rounding them moves coordinates at the edge by a hair; the nearest point in the
    box is then still found, so nothing is clipped by scaling.
    """
    parts = grouped(x, group)
    low, high = parts.min(axis=-1), parts.max(axis=-1)
    step = half(mx.maximum((high - low) / (levels - 1), SMALLEST_STEP), "steps are")
    offset = half(low, "offsets are")
    return (parts - _wide(offset)) / _wide(step) + margin, step, offset


def from_box(points: mx.array, step: mx.array, offset: mx.array, margin: float) -> mx.array:
    """The inverse of `scale_to_box`: points (..., groups, group) -> (..., head), float32."""
    parts = (points - margin) * _wide(step) + _wide(offset)
    return parts.reshape(*parts.shape[:-2], parts.shape[-2] * parts.shape[-1])


def nearest_even(y: mx.array, levels: int) -> mx.array:
    """The point of {0 .. levels - 1}^n with an even sum that is nearest to y (..., n), as float32."""
    rounded = mx.clip(mx.round(y), 0, levels - 1)
    error = y - rounded
    towards = mx.where(error >= 0, 1.0, -1.0)
    towards = mx.where(rounded == 0, 1.0, mx.where(rounded == levels - 1, -1.0, towards))
    worst = mx.argmax(towards * error, axis=-1, keepdims=True)
    odd = rounded.sum(axis=-1, keepdims=True) % 2
    moved = mx.where(mx.arange(y.shape[-1]) == worst, towards * odd, 0.0)
    return rounded + moved


def pack(codes: mx.array, bits: int) -> mx.array:
    """uint32 codes (..., n) of 8, 12, 16, 24 or 32 bits -> bytes (..., n * bits / 8); n is even for 12 bits."""
    if bits == 12:
        return pack(codes[..., 0::2] | (codes[..., 1::2] << 12), 24)
    parts = mx.contiguous(codes).view(mx.uint8).reshape(*codes.shape, 4)[..., : bits // 8]
    return mx.contiguous(parts).reshape(*codes.shape[:-1], codes.shape[-1] * bits // 8)


def unpack(packed: mx.array, bits: int) -> mx.array:
    """The codes that `pack` was given."""
    if bits == 12:
        pairs = unpack(packed, 24)
        both = mx.stack([pairs & 0xFFF, pairs >> 12], axis=-1)
        return both.reshape(*packed.shape[:-1], packed.shape[-1] * 8 // 12)
    width = bits // 8
    parts = packed.reshape(*packed.shape[:-1], packed.shape[-1] // width, width).astype(mx.uint32)
    return sum((parts[..., k] << (8 * k) for k in range(1, width)), parts[..., 0])


def _wide(x: mx.array) -> mx.array:
    return x.astype(mx.float32)[..., None]
