"""mlx-lm's own quantised cache: what it holds, and how fast it decodes, beside the model's exact cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache, QuantizedKVCache, load_prompt_cache, make_prompt_cache, save_prompt_cache

from harness.base.clock import now
from harness.base.errors import EngineError
from harness.engines.codec_scores import StreamLimit
from harness.engines.mlx.kv_quant.captured_kv import LayerKv

# `mlx_lm.generate` names a function of the package, too; the module is meant.
mlx_generate = import_module("mlx_lm.generate")
BITS = (4, 8)
"""Bits that `QuantizedKVCache` lays out right; it counts 32 // bits codes a word, which is wrong for 3 and 6."""


@dataclass(frozen=True)
class TimedStream:
    """Greedy tokens as an answer is cut; `decode_s` and `decode_tokens` are of the whole, uncut stream."""

    tokens: tuple[int, ...]
    decode_s: float
    decode_tokens: int


def quantised_caches(model: Any, layers: Sequence[int], bits: int, group: int) -> list[Any]:
    """The model's own empty caches, those of `layers` quantised; rings, which mlx-lm cannot quantise, stay exact.

    Raises:
        EngineError: bits that the runtime lays out wrongly, or a layer of `layers` that keeps no plain cache.
    """
    if bits not in BITS:
        raise EngineError(f"mlx-lm's QuantizedKVCache cannot hold {bits} bits; it can hold {BITS[0]} and {BITS[1]}")
    caches = make_prompt_cache(model)
    for layer in layers:
        if type(caches[layer]) is not KVCache:
            raise EngineError(f"layer {layer} keeps a {type(caches[layer]).__name__}, which mlx-lm cannot quantise")
        caches[layer] = QuantizedKVCache(group_size=group, bits=bits)
    return caches


def held(caches: Sequence[Any], layers: Sequence[int]) -> tuple[LayerKv, ...]:
    """What quantised caches hold, dequantised."""
    return tuple(LayerKv(layer, *_dequantised(caches[layer])) for layer in layers)


def _dequantised(cache: QuantizedKVCache) -> list[mx.array]:
    settings = {"group_size": cache.group_size, "bits": cache.bits}
    return [mx.dequantize(*arrays, **settings) for arrays in cache.keys_and_values()]


def stored_bytes(caches: Sequence[Any], layers: Sequence[int]) -> int:
    """Bytes of codes, scales and biases of the positions read, without spare room."""
    arrays = [array for layer in layers for side in caches[layer].keys_and_values() for array in side]
    return sum(int(array.nbytes) for array in arrays)


def resident_bytes(caches: Sequence[Any], layers: Sequence[int]) -> int:
    """Bytes of the arrays of `layers`, spare room included."""
    return sum(int(caches[layer].nbytes) for layer in layers)


def timed_stream(model: Any, caches: list[Any], tokens: Sequence[int], limit: StreamLimit) -> TimedStream:
    """Greedy tokens after `tokens` by mlx-lm's `generate_step`, timed from the first to the last, stops or not."""
    prompt, count = mx.array(list(tokens)), limit.timed_tokens
    steps = mlx_generate.generate_step(prompt, model, max_tokens=count, prompt_cache=caches)
    stream = [int(next(steps)[0])]
    start = now()
    stream += [int(token) for token, _ in steps]
    return TimedStream(limit.cut(stream), now() - start, len(stream) - 1)


def reloaded(caches: list[Any], path: Path) -> tuple[list[Any], int]:
    """`caches` written to a file by mlx-lm and read back; and the bytes of the file."""
    save_prompt_cache(str(path), caches)
    return load_prompt_cache(str(path)), path.stat().st_size
