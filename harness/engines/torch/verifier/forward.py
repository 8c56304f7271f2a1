"""The verifier's own forward over transformers' caches."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, LlamaModel

from harness.base.errors import EngineError

CACHE = "cache" if "cache" in inspect.signature(LlamaModel.forward).parameters else "past_key_values"
"""What transformers calls the cache; the name has changed."""


def tokens_on(model: Any, tokens: Sequence[int]) -> Tensor:
    """Token ids (1, L) where the model is."""
    return torch.tensor([list(tokens)], device=model.device)


def native_cache(model: Any) -> DynamicCache:
    """An empty cache of the model's own layout: sliding layers hold no more than their window."""
    return DynamicCache(config=model.config)


def plain_cache() -> DynamicCache:
    """An empty cache that holds every position in every layer; the layers' masks keep the windows."""
    return DynamicCache()


def logits_after(model: Any, cache: DynamicCache, tokens: Tensor, last: int = 0) -> Tensor:
    """Read `tokens` (1, L) into `cache`; logits after the `last` of them, (1, last, vocabulary), of all where 0."""
    logits: Tensor = model(tokens, use_cache=True, logits_to_keep=last, **{CACHE: cache}).logits
    return logits


def read(model: Any, cache: DynamicCache, tokens: Tensor) -> None:
    """Read `tokens` (1, L) into `cache`, without logits."""
    model.base_model(tokens, use_cache=True, **{CACHE: cache})


def prefill(model: Any, cache: DynamicCache, tokens: Sequence[int], chunk: int) -> int:
    """Read the prompt in chunks of at most `chunk` tokens, the last token by a step; returns the first token.

    Raises:
        EngineError: there are no tokens.
    """
    if not tokens:
        raise EngineError("the prompt is empty; there is nothing to read")
    for start in range(0, len(tokens) - 1, chunk):
        read(model, cache, tokens_on(model, tokens[start : min(start + chunk, len(tokens) - 1)]))
    return step(model, cache, tokens[-1])


def step(model: Any, cache: DynamicCache, token: int) -> int:
    """The greedy token after `token`."""
    return int(logits_after(model, cache, tokens_on(model, [token]), last=1)[0, -1].argmax())


def positions_read(cache: DynamicCache) -> int:
    """Positions that the cache has read, dropped ones included.

    Raises:
        EngineError: not the same number in every layer.
    """
    counts = {int(layer.get_seq_length()) for layer in cache.layers}
    if len(counts) != 1:
        raise EngineError(f"layers have read {sorted(counts)} positions; the caches are broken")
    return counts.pop()


def kv_bytes(cache: DynamicCache) -> int:
    """Bytes of the K/V of all layers."""
    held = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values) if tensor is not None]
    return sum(int(tensor.untyped_storage().nbytes()) for tensor in held)


def trim(cache: DynamicCache, count: int) -> None:
    """Take the newest `count` positions out of every layer, exactly.

    Raises:
        EngineError: a layer is a ring, or was not trimmed by as much.
    """
    before = positions_read(cache)
    if any(layer.is_sliding for layer in cache.layers):
        raise EngineError("a cache with sliding layers cannot be trimmed exactly; use fused-carry")
    for layer in cache.layers if count else ():
        layer.keys, layer.values = layer.keys[..., :-count, :], layer.values[..., :-count, :]
    if positions_read(cache) != before - count:
        raise EngineError(f"{before - positions_read(cache)} of {count} positions were trimmed; the cache is now wrong")


def snapshot(cache: DynamicCache) -> Callable[[], None]:
    """Remember what `cache` holds; what is returned puts it back. transformers never writes into K/V that it holds, so
    nothing is copied."""
    states = [dict(vars(layer)) for layer in cache.layers]

    def restore() -> None:
        for layer, state in zip(cache.layers, states, strict=True):
            vars(layer).update(state)

    return restore
