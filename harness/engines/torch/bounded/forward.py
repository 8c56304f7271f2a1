"""A layer loop of our own over transformers' modules: one mask a layer, and no head where no token is wanted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from harness.base.errors import EngineError
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.layer_cache import LayerCache
from harness.engines.torch.verifier.forward import CACHE
from harness.engines.torch.verifier.layer_outputs import layers_of

FAMILIES = ("llama", "qwen2", "qwen3", "gemma3_text")
PER_TYPE = ("gemma3_text",)
"""Families with a RoPE of its own for each type of layer."""

Angles = tuple[Tensor, Tensor]
"""Cosines and sines of positions, each (1, L, head size)."""


class OneLayer:
    """A layer's cache under the name by which transformers' attention asks for it."""

    def __init__(self, cache: LayerCache) -> None:
        self._cache = cache

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Take new K/V and return those that the mask speaks of."""
        return self._cache.update_and_fetch(keys, values)


@dataclass(frozen=True)
class Backbone:
    """A model taken apart: token ids (1, L) -> embedding -> `layers` -> norm -> head -> logits.

    `types` has a name a layer, by which `rotary` gives the angles of positions.
    """

    model: Any
    layers: Sequence[Any]
    types: Sequence[str]
    rotary: Callable[[Tensor, Tensor, str], Angles]

    def run(self, tokens: Tensor, cache: EvictingCache) -> Tensor:
        """Hidden states after the last layer, before the norm, shape (1, L, hidden); `cache` is planned already."""
        hidden: Tensor = self.model.base_model.embed_tokens(tokens)
        first = cache.layers[0].offset
        positions = torch.arange(first, first + tokens.shape[1], device=tokens.device)[None]
        angles = {kind: self.rotary(hidden, positions, kind) for kind in dict.fromkeys(self.types)}
        for layer, kind, layer_cache in zip(self.layers, self.types, cache.layers, strict=True):
            if layer_cache.layer == cache.restorer.capture_layer:
                cache.observe(hidden)
            output = layer(
                hidden,
                attention_mask=layer_cache.group.mask,
                position_embeddings=angles[kind],
                position_ids=positions,
                use_cache=True,
                **{CACHE: OneLayer(layer_cache)},
            )
            hidden = output[0] if isinstance(output, tuple) else output
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits after every position of `hidden`, (1, L, vocabulary)."""
        logits: Tensor = self.model.get_output_embeddings()(self.model.base_model.norm(hidden))
        cap = getattr(self.model.config, "final_logit_softcapping", None)
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def next_token(self, hidden: Tensor) -> Tensor:
        """The greedy token after the last position of `hidden`, shape (1,)."""
        return self.logits(hidden[:, -1:]).argmax(dim=-1).reshape(1)


def take_apart(model: Any) -> Backbone:
    """The backbone of a model of a family known here.

    Raises:
        EngineError: the family is another.
    """
    family = model.config.model_type
    if family not in FAMILIES:
        raise EngineError(f"a bounded cache cannot run {family} on torch; it runs {', '.join(FAMILIES)}")
    rotary = model.base_model.rotary_emb
    layers = layers_of(model)
    if family in PER_TYPE:
        return Backbone(model, layers, tuple(model.config.layer_types), rotary)
    return Backbone(model, layers, ("all",) * len(layers), lambda hidden, positions, _: rotary(hidden, positions))
