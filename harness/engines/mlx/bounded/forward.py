"""A layer loop of our own over mlx-lm's modules: one mask a layer, and no head where no token is wanted.

mlx-lm's models take their masks from one or two of the caches, which is wrong as soon as layers hold different
positions. Families are recognised by the class that runs them; any other is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma3, gemma3_text, gemma4, gemma4_text, llama, qwen2, qwen3

from harness.base.errors import EngineError
from harness.engines.bounded.cache import EvictingCache


@dataclass(frozen=True)
class Backbone:
    """A model taken apart: token ids (1, L) -> `embed` (1, L, hidden) -> `layers` -> `norm` -> `head` -> logits."""

    embed: Callable[[mx.array], mx.array]
    layers: Sequence[Any]
    norm: Callable[[mx.array], mx.array]
    head: Callable[[mx.array], mx.array]

    def run(self, tokens: mx.array, cache: EvictingCache) -> mx.array:
        """Hidden states after the last layer, before the norm, shape (1, L, hidden); `cache` is planned already."""
        hidden = self.embed(tokens)
        for layer, layer_cache in zip(self.layers, cache.layers, strict=True):
            if layer_cache.layer == cache.restorer.capture_layer:
                cache.observe(hidden)
            hidden = layer(hidden, layer_cache.group.mask, layer_cache)
        return hidden

    def logits(self, hidden: mx.array) -> mx.array:
        """Logits after every position of `hidden`, (1, L, vocabulary), not evaluated."""
        return self.head(self.norm(hidden))

    def next_token(self, hidden: mx.array) -> mx.array:
        """The greedy token after the last position of `hidden`, shape (1,), not evaluated."""
        return mx.argmax(self.logits(hidden[:, -1:]), axis=-1).reshape(1)


def take_apart(model: Any, architecture: str) -> Backbone:
    """The backbone of a model of a family known here.

    Raises:
        EngineError: the family is none of llama, qwen2, qwen3, gemma3_text and gemma4_text.
    """
    if isinstance(model, (gemma3.Model, gemma4.Model)):
        model = model.language_model
    if isinstance(model, gemma4_text.Model):
        return _gemma4(model, architecture)
    if isinstance(model, gemma3_text.Model):
        return _backbone(model, model.tie_word_embeddings, gemma_scale(model.args.hidden_size))
    if isinstance(model, (llama.Model, qwen2.Model, qwen3.Model)):
        return _backbone(model, model.args.tie_word_embeddings, lambda embedded: embedded)
    raise EngineError(
        f"a bounded cache cannot run {architecture}; it runs llama, qwen2, qwen3, gemma3_text, gemma4_text"
    )


def _backbone(model: Any, tied: bool, scale: Callable[[mx.array], mx.array]) -> Backbone:
    inner = model.model
    return Backbone(
        embed=lambda tokens: scale(inner.embed_tokens(tokens)),
        layers=inner.layers,
        norm=inner.norm,
        head=inner.embed_tokens.as_linear if tied else model.lm_head,
    )


def _gemma4(model: Any, architecture: str) -> Backbone:
    """Gemma 4 where every layer has K/V of its own and takes nothing but hidden states (26B-A4B, 31B).

    Raises:
        EngineError: layers share K/V or take inputs of their own, as in the small models.
    """
    inner, args = model.model, model.args
    if args.num_kv_shared_layers or args.hidden_size_per_layer_input:
        raise EngineError(f"a bounded cache cannot run {architecture} with shared K/V or inputs a layer")
    project = inner.embed_tokens.as_linear if model.tie_word_embeddings else model.lm_head
    return Backbone(
        embed=lambda tokens: inner.embed_tokens(tokens) * inner.embed_scale,
        layers=[_hidden_states_of(inner.layers, index) for index in range(len(inner.layers))],
        norm=inner.norm,
        head=lambda hidden: softcapped(project(hidden), model.final_logit_softcapping),
    )


def _hidden_states_of(layers: Sequence[Any], index: int) -> Callable[[mx.array, mx.array | None, Any], mx.array]:
    """A layer of Gemma 4 returns its K/V and offset, too; nothing here reads them.

    It is looked up when it is run: one that is being captured has a stand-in in the model's list.
    """
    return lambda hidden, mask, cache: layers[index](hidden, mask, cache)[0]


def softcapped(logits: mx.array, cap: float | None) -> mx.array:
    """Logits squeezed into -cap to cap by a tanh; as they are without a cap."""
    return logits if cap is None else mx.tanh(logits / cap) * cap


def gemma_scale(hidden_size: int) -> Callable[[mx.array], mx.array]:
    """Gemma multiplies embeddings by sqrt(hidden size), which mlx-lm rounds to bfloat16; so does this."""
    factor = mx.array(hidden_size**0.5, mx.bfloat16)
    return lambda embedded: embedded * factor.astype(embedded.dtype)
