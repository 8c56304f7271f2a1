"""K/V as a codec stores them: in memory, in a file, and put back into caches that a model reads on from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache

from harness.engines.mlx.kv_quant.captured_kv import LayerKv, copies
from harness.engines.mlx.kv_quant.codec import Codec, Encoded, make_codec

_IDENTITY = make_codec("identity")


@dataclass(frozen=True)
class CodecPair:
    """The codecs of an arm for K and for V, and the captured layers they are used in; the others are kept exact."""

    keys: Codec
    values: Codec
    layers: frozenset[int]

    def of(self, layer: int) -> tuple[Codec, Codec]:
        """The codecs of one layer."""
        return (self.keys, self.values) if layer in self.layers else (_IDENTITY, _IDENTITY)


@dataclass(frozen=True)
class StoredLayer:
    """K/V of one layer as stored."""

    layer: int
    keys: Encoded
    values: Encoded

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return self.keys.nbytes + self.values.nbytes


def store(pair: CodecPair, kv: Sequence[LayerKv]) -> tuple[StoredLayer, ...]:
    """Encode the K/V of every captured layer."""
    stored = []
    for one in kv:
        of_keys, of_values = pair.of(one.layer)
        layer = StoredLayer(one.layer, of_keys.encode(one.keys), of_values.encode(one.values))
        mx.eval(list(layer.keys.arrays.values()), list(layer.values.arrays.values()))
        stored.append(layer)
    return tuple(stored)


def restore(pair: CodecPair, stored: StoredLayer, like: mx.array) -> tuple[mx.array, mx.array]:
    """K and V again, in the type of `like`."""
    of_keys, of_values = pair.of(stored.layer)
    return of_keys.decode(stored.keys).astype(like.dtype), of_values.decode(stored.values).astype(like.dtype)


def save(stored: Sequence[StoredLayer], path: Path) -> int:
    """Write a safetensors file; returns its bytes."""
    arrays = {
        f"{layer.layer}.{side}.{name}": array
        for layer in stored
        for side, encoded in (("keys", layer.keys), ("values", layer.values))
        for name, array in encoded.arrays.items()
    }
    mx.save_safetensors(str(path), arrays)
    return path.stat().st_size


def load(path: Path) -> tuple[StoredLayer, ...]:
    """What `save` wrote."""
    arrays: Any = mx.load(str(path))
    found: dict[int, dict[str, dict[str, mx.array]]] = {}
    for key, array in arrays.items():
        layer, side, name = key.split(".", 2)
        found.setdefault(int(layer), {}).setdefault(side, {})[name] = array
    return tuple(
        StoredLayer(layer, Encoded(sides["keys"]), Encoded(sides["values"])) for layer, sides in sorted(found.items())
    )


def lossy_caches(
    caches: Sequence[Any], kv: Sequence[LayerKv], arms: Sequence[tuple[CodecPair, Sequence[StoredLayer]]]
) -> list[Any]:
    """Caches for a batch of arms: the captured layers restored from what each arm stored, the others copied."""
    captured = {one.layer for one in kv}
    batch = [None if layer in captured else copies([cache], len(arms))[0] for layer, cache in enumerate(caches)]
    for number, one in enumerate(kv):
        restored = [restore(pair, stored[number], one.keys) for pair, stored in arms]
        cache = KVCache()
        cache.keys = mx.concatenate([keys for keys, _ in restored], axis=0)
        cache.values = mx.concatenate([values for _, values in restored], axis=0)
        cache.offset = one.keys.shape[2]
        mx.eval(cache.keys, cache.values)
        batch[one.layer] = cache
    return batch
