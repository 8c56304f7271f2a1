"""A text read into a model's own caches, with the K/V of chosen layers taken out of them.

K before RoPE and the queries are what the attention's `rope` was given and gave back while the text was read.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache, RotatingKVCache, make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.mlx.verifier.hidden_states import layers_of

QUERIES = 32
"""The prompt's last queries, for which a layer's attention output is compared."""


@dataclass(frozen=True)
class LayerKv:
    """K/V of one layer, (1, K/V heads, positions, head size): K after RoPE."""

    layer: int
    keys: mx.array
    values: mx.array


@dataclass(frozen=True)
class AttentionInputs:
    """What else one layer's attention read: K before RoPE, and the last queries (1, heads, queries, head size)."""

    keys_before: mx.array
    queries: mx.array
    scale: float


@dataclass
class RopeTap:
    """Stands in for the `rope` of one layer and keeps what goes through it, a call each."""

    rope: Any
    calls: list[tuple[mx.array, mx.array]] = field(default_factory=list)

    def __call__(self, x: mx.array, *args: Any, **kwargs: Any) -> mx.array:
        """What `rope` returns."""
        rotated = self.rope(x, *args, **kwargs)
        self.calls.append((x, rotated))
        return rotated


def read(model: Any, tokens: Sequence[int], chunk: int, caches: list[Any] | None = None) -> list[Any]:
    """Read `tokens` in chunks into `caches`, the model's own empty ones by default; no logits are computed."""
    caches = make_prompt_cache(model) if caches is None else caches
    for start in range(0, len(tokens), chunk):
        model(mx.array([list(tokens[start : start + chunk])]), cache=caches)
        mx.eval([cache.state for cache in caches])
    mx.clear_cache()
    return caches


def copies(caches: Sequence[Any], batch: int = 1) -> list[Any]:
    """Caches of their own, the same contents `batch` times. Arrays are copied: caches write in place."""
    twins = []
    for cache in caches:
        if type(cache) not in (KVCache, RotatingKVCache):
            raise EngineError(f"a {type(cache).__name__} cannot be copied; its layer holds something else than K/V")
        twin = copy.copy(cache)
        if cache.keys is not None:
            twin.keys, twin.values = (mx.repeat(mx.array(held), batch, axis=0) for held in (cache.keys, cache.values))
        twins.append(twin)
    return twins


def kv_of(caches: Sequence[Any], layers: Sequence[int]) -> tuple[LayerKv, ...]:
    """Copies of the K/V that plain caches hold for `layers`."""
    taken = []
    for layer in layers:
        cache = caches[layer]
        keys, values = (mx.array(held[..., : cache.offset, :]) for held in (cache.keys, cache.values))
        taken.append(LayerKv(layer, keys, values))
    mx.eval([(kv.keys, kv.values) for kv in taken])
    return tuple(taken)


@contextmanager
def tapped(model: Any, layers: Sequence[int]) -> Iterator[dict[int, RopeTap]]:
    """Within the context, what goes through the RoPE of `layers` is kept; the model is as before afterwards.

    Raises:
        EngineError: a layer has no attention with a `rope` of its own.
    """
    held = layers_of(model, layers)
    attentions: dict[int, Any] = {layer: getattr(held[layer], "self_attn", None) for layer in layers}
    lacking = [layer for layer, attention in attentions.items() if not hasattr(attention, "rope")]
    if lacking:
        raise EngineError(f"layer {lacking[0]} of {type(model).__module__} has no rope; K before RoPE cannot be taken")
    taps = {layer: RopeTap(attention.rope) for layer, attention in attentions.items()}
    try:
        for layer, attention in attentions.items():
            attention.rope = taps[layer]
        yield taps
    finally:
        for layer, attention in attentions.items():
            attention.rope = taps[layer].rope


def attention_inputs(model: Any, tap: RopeTap, kv: LayerKv) -> AttentionInputs:
    """K before RoPE and the last queries of a layer that was read with `tap`, first to last position.

    Which calls rotated K is found out by comparing with what the cache holds.

    Raises:
        EngineError: no call of a forward gave the K that was cached.
    """
    before, queries, position = [], [], 0
    for first, second in zip(tap.calls[0::2], tap.calls[1::2], strict=True):
        stop = position + first[1].shape[2]
        cached = kv.keys[:, :, position:stop]
        match = [_same(call[1], cached) for call in (first, second)]
        if not any(match):
            raise EngineError(f"layer {kv.layer} caches K that its rope did not give; K before RoPE cannot be taken")
        keys, other = (second, first) if match[1] else (first, second)
        before.append(keys[0])
        queries.append(other[1][:, :, -QUERIES:])
        position = stop
    scale = layers_of(model, [kv.layer])[kv.layer].self_attn.scale
    last = mx.concatenate(queries, axis=2)[:, :, -QUERIES:]
    made = AttentionInputs(mx.concatenate(before, axis=2), last, float(scale))
    mx.eval(made.keys_before, made.queries)
    return made


def _same(rotated: mx.array, cached: mx.array) -> bool:
    return rotated.shape == cached.shape and bool(mx.array_equal(rotated.astype(cached.dtype), cached).item())
