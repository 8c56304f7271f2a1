"""The all-KVCache layout: every layer on a plain, growing cache, which can be trimmed exactly at any length.

A `RotatingKVCache` that has wrapped cannot give back what it overwrote. On a plain cache the layers' own masks
(`make_mask(window_size=...)`) keep the sliding window. The window then no longer bounds the bytes held.
"""

from typing import Any

from mlx_lm.models import gemma3, gemma3_text, gemma4, gemma4_text, llama
from mlx_lm.models.cache import KVCache, RotatingKVCache, make_prompt_cache

from harness.base.errors import EngineError

WINDOW_ON_PLAIN_CACHE = (gemma3.Model, gemma3_text.Model, gemma4.Model, gemma4_text.Model, llama.Model)
"""Families that pass their window to `make_mask`, so that a plain cache in a sliding layer's place is masked right."""


def plain_caches(model: Any) -> list[KVCache]:
    """An empty plain cache for each cache the model makes for itself.

    Raises:
        EngineError: a layer holds something else than K/V, or the family is not known to mask a window by itself.
    """
    native = native_caches(model)
    if any(isinstance(cache, RotatingKVCache) for cache in native) and not isinstance(model, WINDOW_ON_PLAIN_CACHE):
        raise EngineError(
            f"{type(model).__module__} has sliding layers and is not known to keep its window on a plain cache, so "
            "its blocks cannot be trimmed exactly; use fused-carry"
        )
    return [KVCache() for _ in native]


def native_caches(model: Any) -> list[KVCache | RotatingKVCache]:
    """The model's own empty caches.

    Raises:
        EngineError: one of them is neither a plain cache nor a ring, so that it cannot be rolled back.
    """
    caches = make_prompt_cache(model)
    for index, cache in enumerate(caches):
        if type(cache) not in (KVCache, RotatingKVCache):
            raise EngineError(
                f"layer {index} keeps a {type(cache).__name__}, which cannot be rolled back exactly; "
                "speculative decoding cannot run on this model"
            )
    return list(caches)
