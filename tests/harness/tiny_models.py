"""Tiny verifiers with random weights, built from mlx-lm's own model classes, and the dense forward they are held to."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import mlx.core as mx
import numpy as np
from mlx.utils import tree_map
from mlx_lm.models import gemma3_text, gemma4_text, llama, qwen2, qwen3

from harness.engines.mlx.bounded.forward import take_apart
from harness.engines.mlx.verifier.architecture import read_architecture
from harness.engines.mlx.verifier.load import Verifier

VOCAB = 97
SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rms_norm_eps": 1e-5,
    "vocab_size": VOCAB,
}
Sees = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


def verifier_of(model: Any, model_type: str, seed: int = 7) -> Verifier:
    """`model` with weights wide enough that attention is peaked and streams vary, and no tokenizer."""
    mx.random.seed(seed)
    model.update(tree_map(lambda w: 0.35 * mx.random.normal(w.shape), model.parameters()))
    mx.eval(model.parameters())
    return Verifier(model, None, read_architecture(model, {"model_type": model_type}, {0}))


@cache
def tiny_llama() -> Verifier:
    """Four full-attention layers, four heads over two K/V heads."""
    args = llama.ModelArgs(model_type="llama", num_hidden_layers=4, **SHAPE)
    return verifier_of(llama.Model(args), "llama")


@cache
def tiny_gemma() -> Verifier:
    """Six layers, full attention at 2 and 5, the others sliding over 16 positions; one K/V head."""
    shape = SHAPE | {"num_key_value_heads": 1, "query_pre_attn_scalar": 8}
    args = gemma3_text.ModelArgs(
        model_type="gemma3_text", num_hidden_layers=6, sliding_window=16, sliding_window_pattern=3, **shape
    )
    model = gemma3_text.Model(args)
    model.sanitize({})
    return verifier_of(model, "gemma3_text")


@cache
def tiny_gemma4() -> Verifier:
    """Gemma 4 as its large models are: experts, values taken from keys in full layers, soft-capped logits."""
    args = gemma4_text.ModelArgs(
        model_type="gemma4_text",
        num_hidden_layers=6,
        sliding_window=16,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2,
        num_kv_shared_layers=0,
        hidden_size_per_layer_input=0,
        global_head_dim=16,
        num_global_key_value_heads=1,
        attention_k_eq_v=True,
        enable_moe_block=True,
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=16,
        **SHAPE,
    )
    return verifier_of(gemma4_text.Model(args), "gemma4_text")


@cache
def tiny_qwen2() -> Verifier:
    """Qwen 2: biases on the projections, an untied head."""
    shape = {key: value for key, value in SHAPE.items() if key != "head_dim"}
    args = qwen2.ModelArgs(model_type="qwen2", num_hidden_layers=3, tie_word_embeddings=False, **shape)
    return verifier_of(qwen2.Model(args), "qwen2")


@cache
def tiny_qwen3() -> Verifier:
    """Qwen 3: norms on queries and keys."""
    args = qwen3.ModelArgs(
        model_type="qwen3",
        num_hidden_layers=3,
        max_position_embeddings=512,
        rope_theta=10000.0,
        tie_word_embeddings=True,
        **SHAPE,
    )
    return verifier_of(qwen3.Model(args), "qwen3")


def prompt_of(length: int, seed: int = 0) -> list[int]:
    """Token ids 1 to VOCAB - 1, seeded."""
    return [int(token) for token in np.random.default_rng(seed).integers(1, VOCAB, length)]


def dense_logits(verifier: Verifier, tokens: Sequence[int], sees: Sees) -> np.ndarray:
    """Logits (tokens, vocabulary) of one forward without any cache, under a whole mask a layer.

    `sees(layer, q, p)` says for columns of positions whether a query at `q` sees the K/V at `p` in `layer`.
    """
    backbone = take_apart(verifier.model, verifier.architecture.name)
    queries, positions = np.arange(len(tokens))[:, None], np.arange(len(tokens))[None]
    hidden = backbone.embed(mx.array([list(tokens)]))
    for index, layer in enumerate(backbone.layers):
        native = verifier.architecture.cache_layers[index].native_window or len(tokens)
        mask = (positions <= queries) & (queries - positions < native) & sees(index, queries, positions)
        hidden = layer(hidden, mx.array(mask), None)
    return np.array(backbone.head(backbone.norm(hidden))[0])
