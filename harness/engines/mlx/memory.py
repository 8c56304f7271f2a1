"""Bytes: what caches hold, and the peak MLX allocated."""

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol

import mlx.core as mx

# `mlx_lm.generate` names a function of the package, too; the module is meant.
mlx_generate = import_module("mlx_lm.generate")


class HoldsKv(Protocol):
    """A cache of one layer, mlx-lm's or ours."""

    @property
    def nbytes(self) -> int: ...


def kv_bytes(caches: Iterable[HoldsKv]) -> int:
    """Bytes of the K/V arrays of all layers, allocated slots that are still empty included."""
    return sum(int(cache.nbytes) for cache in caches)


def reset_peak() -> None:
    """Forget the peak so far, and give cached buffers back, so that the next peak is the next run's own.

    Waits first for a step that a stop token left behind, on MLX's stream or on mlx-lm's.
    """
    mx.synchronize()
    mx.synchronize(mlx_generate.generation_stream)
    mx.clear_cache()
    mx.reset_peak_memory()


def held_bytes() -> int:
    """The bytes MLX has allocated now, weights included."""
    return int(mx.get_active_memory())


def peak_bytes() -> int:
    """The most bytes MLX had allocated at once since `reset_peak`, weights included."""
    return int(mx.get_peak_memory())
