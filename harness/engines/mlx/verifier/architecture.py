"""What a loaded verifier is, read from the model itself and not from what its config promises."""

from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache, RotatingKVCache, make_prompt_cache

from harness.base.errors import ModelError
from harness.engines.architecture import Architecture, CacheLayer
from harness.models.info import architecture
from harness.models.library_errors import told_in_one_line


def read_architecture(model: Any, config: dict[str, Any], eos_ids: set[int]) -> Architecture:
    """Run one token through `model` with its native cache and read off what the cache then holds.

    Raises:
        ModelError: it cannot run, or a layer caches something else than K/V (a recurrent or latent state).
    """
    with told_in_one_line(f"a {config['model_type']} of this config cannot run", "take the config of these weights"):
        caches = make_prompt_cache(model)
        logits = model(mx.array([[0]]), cache=caches)
        mx.eval(logits, [cache.state for cache in caches])
    cache_layers = tuple(_cache_layer(index, cache) for index, cache in enumerate(caches))
    windows = {layer.native_window for layer in cache_layers if layer.native_window is not None}
    _, kv_heads, _, head_dim = caches[0].keys.shape
    return Architecture(
        name=architecture(config),
        layers=len(cache_layers),
        layer_types=tuple(layer.kind for layer in cache_layers),
        sliding_window=max(windows, default=None),
        kv_heads=kv_heads,
        head_dim=head_dim,
        cache_layers=cache_layers,
        dtype=str(caches[0].keys.dtype).removeprefix("mlx.core."),
        quantisation=_quantisation(config),
        vocab=logits.shape[-1],
        eos_ids=tuple(sorted(eos_ids)),
    )


def _cache_layer(index: int, cache: Any) -> CacheLayer:
    if type(cache) not in (KVCache, RotatingKVCache):
        raise ModelError(f"layer {index} caches a {type(cache).__name__}, not K/V; no engine here can run this model")
    keys, values = cache.keys, cache.values
    per_token = (keys.nbytes + values.nbytes) // keys.shape[2]
    if isinstance(cache, RotatingKVCache):
        return CacheLayer("sliding_attention", per_token, cache.max_size)
    return CacheLayer("full_attention", per_token)


def _quantisation(config: dict[str, Any]) -> str | None:
    """Bits and group size of quantised weights, as mlx-lm's config states them."""
    settings = config.get("quantization")
    if not settings:
        return None
    return f"{settings.get('mode', 'affine')} {settings['bits']}-bit, group {settings['group_size']}"
