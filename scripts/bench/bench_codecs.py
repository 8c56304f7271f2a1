"""How fast codecs quantise and restore 100 MB of K/V: seconds and MB/s of each, best of a few runs."""

import argparse

import mlx.core as mx

from harness.base.clock import now
from harness.engines.mlx.kv_quant.codec import make_codec

LIMITS = {"affine": 2.0, "d4": 20.0, "e8": 20.0}
"""Seconds for 100 MB, quantised and restored, by kind of codec; a rotation is within the same."""
CODECS = ("affine8", "affine4", "affine4-g32", "hadamard-affine4", "d4-4", "hadamard-d4-4", "e8-4", "hadamard-e8-4")


def seconds(name: str, x: mx.array) -> tuple[float, float]:
    """Seconds to encode `x` and to decode it again, everything evaluated."""
    codec = make_codec(name)
    start = now()
    encoded = codec.encode(x)
    mx.eval(list(encoded.arrays.values()))
    middle = now()
    mx.eval(codec.decode(encoded))
    return middle - start, now() - middle


def main() -> int:
    """Print a line a codec; 1 if one takes longer than its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--head", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("codecs", nargs="*", default=CODECS)
    options = parser.parse_args()
    x = mx.random.normal((1, 1, options.megabytes * 250_000 // options.head, options.head), key=mx.random.key(0))
    mx.eval(x)
    slow = 0
    for name in options.codecs:
        encode, decode = min((seconds(name, x) for _ in range(options.runs)), key=sum)
        total, size = encode + decode, x.nbytes / 1e6
        limit = next(most for kind, most in LIMITS.items() if kind in name) * size / 100
        slow += total > limit
        verdict = "ok" if total <= limit else "TOO SLOW"
        print(
            f"{name:<18} {size:.0f} MB: {encode:.2f} s to quantise, {decode:.2f} s to restore, "
            f"{size / total:.0f} MB/s (limit {limit:g} s: {verdict})"
        )
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
