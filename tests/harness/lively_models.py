"""Tiny verifiers whose greedy streams wander: an untied head, so that a token does not predict itself."""

from functools import cache

from mlx_lm.models import gemma3_text, gemma4_text, qwen3

from harness.engines.mlx.verifier.load import Verifier
from tests.harness.tiny_models import SHAPE, verifier_of


@cache
def lively_gemma() -> Verifier:
    """Gemma 3: full attention at 2 and 5, the others sliding over 16 positions."""
    shape = SHAPE | {"num_key_value_heads": 1, "query_pre_attn_scalar": 8}
    args = gemma3_text.ModelArgs(
        model_type="gemma3_text", num_hidden_layers=6, sliding_window=16, sliding_window_pattern=3, **shape
    )
    return verifier_of(gemma3_text.Model(args), "gemma3_text")


@cache
def lively_gemma4() -> Verifier:
    """Gemma 4: shared K/V, layers that return more than hidden states, soft-capped logits."""
    args = gemma4_text.ModelArgs(
        model_type="gemma4_text",
        num_hidden_layers=6,
        sliding_window=16,
        sliding_window_pattern=3,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2,
        num_kv_shared_layers=2,
        global_head_dim=8,
        hidden_size_per_layer_input=4,
        vocab_size_per_layer_input=97,
        tie_word_embeddings=False,
        **SHAPE,
    )
    return verifier_of(gemma4_text.Model(args), "gemma4_text")


@cache
def lively_qwen3() -> Verifier:
    """Qwen 3: norms on queries and keys."""
    args = qwen3.ModelArgs(
        model_type="qwen3",
        num_hidden_layers=3,
        max_position_embeddings=512,
        rope_theta=10000.0,
        tie_word_embeddings=False,
        **SHAPE,
    )
    return verifier_of(qwen3.Model(args), "qwen3")
