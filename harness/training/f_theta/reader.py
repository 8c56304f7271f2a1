"""Reads text with a verifier under its own attention: proposer features, the K/V f_theta shall restore, logits."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from harness.engines.bounded.bounded_verifier import Layers
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.layout import LayerRule
from harness.engines.bounded.restoration import AblateRestorer
from harness.engines.mlx.bounded.arrays import ARRAYS
from harness.engines.mlx.bounded.forward import Backbone, take_apart
from harness.engines.mlx.verifier.load import Verifier
from harness.training.f_theta.fit import Floats


@dataclass(frozen=True)
class Reading:
    """One text: `features` (n, hidden), and `outputs` (n, layers x 2 x K/V width), keys before norm and RoPE first."""

    features: Floats
    outputs: Floats


class Reader:
    """A verifier with its native, unbounded attention."""

    def __init__(self, verifier: Verifier, proposer_layer: int) -> None:
        """Raises: EngineError: a family whose layers cannot be run one by one."""
        self._backbone: Backbone = take_apart(verifier.model, verifier.architecture.name)
        self._rules = [
            LayerRule("keep", native_window=layer.native_window) for layer in verifier.architecture.cache_layers
        ]
        self._proposer_layer = proposer_layer
        architecture = verifier.architecture
        self.outputs = architecture.layers * 2 * architecture.kv_heads * architecture.head_dim
        self.features = int(self._backbone.embed(mx.array([[0]])).shape[-1])

    def read(self, tokens: Sequence[int]) -> Reading:
        """Features and K/V of all positions of a text, read at once."""
        cache = self._cache(len(tokens))
        hidden = self._backbone.embed(mx.array([list(tokens)]))
        features, outputs = hidden, []
        for layer, layer_cache in zip(self._backbone.layers, cache.layers, strict=True):
            if layer_cache.layer == self._proposer_layer:
                features = hidden
            normed = layer.input_layernorm(hidden)
            outputs += [layer.self_attn.k_proj(normed)[0], layer.self_attn.v_proj(normed)[0]]
            hidden = layer(hidden, layer_cache.group.mask, layer_cache)
        both = features[0].astype(mx.float32), mx.concatenate(outputs, axis=-1).astype(mx.float32)
        mx.eval(both)
        mx.clear_cache()
        return Reading(*(np.array(array) for array in both))

    def log_probabilities(self, tokens: Sequence[int], last: int) -> mx.array:
        """Those after each of the `last` positions of a text, (last, vocabulary) in float32, evaluated."""
        hidden = self._backbone.run(mx.array([list(tokens)]), self._cache(len(tokens)))
        found = normalised(self._backbone, hidden[:, -last:])
        mx.eval(found)
        mx.clear_cache()
        return found

    def _cache(self, length: int) -> EvictingCache:
        """A cache that keeps everything, about to read `length` positions at once."""
        cache = EvictingCache(self._rules, evicting=False, restorer=AblateRestorer(), arrays=ARRAYS)
        cache.begin_chunk(length)
        return cache


def normalised(backbone: Layers, hidden: mx.array) -> mx.array:
    """Log-probabilities (L, vocabulary) in float32 after the positions of `hidden` (1, L, hidden)."""
    logits = backbone.logits(hidden)[0].astype(mx.float32)
    normal: mx.array = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    return normal
