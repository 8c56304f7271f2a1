"""A stream's caches of mlx-lm, copied."""

from typing import Any

import mlx.core as mx

from harness.base.errors import EngineError
from harness.engines.blocks.kv import VerifierKv
from harness.engines.mlx.engines.stream_cache import ModelKv


def copy_cache(cache: Any) -> Any:
    """A cache of the same class and state whose arrays nobody else writes into."""
    copy = object.__new__(type(cache))
    for name, value in vars(cache).items():
        setattr(copy, name, mx.array(value) if isinstance(value, mx.array) else value)
    return copy


def copy_kv(kv: VerifierKv) -> ModelKv:
    """The same K/V, which nobody else writes into.

    Raises:
        EngineError: the cache is a bounded one.
    """
    if not isinstance(kv, ModelKv):
        raise EngineError("a session over a bounded cache cannot be copied; read its prompt again")
    caches = [copy_cache(cache) for cache in kv.caches]
    mx.eval([value for cache in caches for value in vars(cache).values() if isinstance(value, mx.array)])
    return ModelKv(kv.model, caches)
