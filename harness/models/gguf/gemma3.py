"""GGUF architecture `gemma3` (text) to Gemma3ForCausalLM."""

import numpy as np

from harness.models.gguf.gguf_file import FloatArray, GgufFile
from harness.models.gguf.tensor_layout import Placement, TensorLayout, unchanged

LOCAL_ROPE_THETA = 10_000.0
"""RoPE base of the sliding layers; the format has no key for it, its readers take this."""

PATTERN = 6
"""Every sixth layer attends to everything; likewise a constant of the architecture in the format's readers."""

_BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


def norm_offset(values: FloatArray) -> FloatArray:
    """GGUF stores Gemma's norm weights with the 1 already added that both libraries add themselves."""
    return values - np.float32(1.0)


def layer_types(layers: int) -> list[str]:
    """Full attention at layers 5, 11, 17, ...; the rest slides."""
    return ["sliding_attention" if (layer + 1) % PATTERN else "full_attention" for layer in range(layers)]


def gemma3_layout(gguf: GgufFile) -> TensorLayout:
    """Settings and tensors of a Gemma 3 text model with tied embeddings.

    Raises:
        ModelError: a setting is missing.
    """
    layers = gguf.integer("gemma3.block_count")
    theta = gguf.number("gemma3.rope.freq_base")
    head_dim = gguf.integer("gemma3.attention.key_length")
    config = {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size": gguf.integer("gemma3.embedding_length"),
        "intermediate_size": gguf.integer("gemma3.feed_forward_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": gguf.integer("gemma3.attention.head_count"),
        "num_key_value_heads": gguf.integer("gemma3.attention.head_count_kv"),
        "head_dim": head_dim,
        "query_pre_attn_scalar": head_dim,
        "max_position_embeddings": gguf.integer("gemma3.context_length"),
        "rms_norm_eps": gguf.number("gemma3.attention.layer_norm_rms_epsilon"),
        "sliding_window": gguf.integer("gemma3.attention.sliding_window"),
        "sliding_window_pattern": PATTERN,
        "layer_types": layer_types(layers),
        # The first two for mlx-lm, the nested form for transformers 5, which drops the others one day.
        "rope_theta": theta,
        "rope_local_base_freq": LOCAL_ROPE_THETA,
        "rope_parameters": {
            "full_attention": {"rope_theta": theta, "rope_type": "default"},
            "sliding_attention": {"rope_theta": LOCAL_ROPE_THETA, "rope_type": "default"},
        },
        "attention_bias": False,
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "tie_word_embeddings": True,
        "vocab_size": gguf.tensor("token_embd.weight").shape[0],
    }
    ends = (
        Placement("token_embd.weight", "model.embed_tokens.weight"),
        Placement("output_norm.weight", "model.norm.weight", norm_offset),
    )
    return TensorLayout(config, ends + tuple(placement for layer in range(layers) for placement in _block(layer)))


def _block(layer: int) -> tuple[Placement, ...]:
    return tuple(
        Placement(
            f"blk.{layer}.{old}.weight",
            f"model.layers.{layer}.{new}.weight",
            norm_offset if old.endswith("norm") else unchanged,
        )
        for old, new in _BLOCK.items()
    )
