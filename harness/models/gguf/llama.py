"""GGUF architecture `llama` to LlamaForCausalLM."""

from functools import partial

from harness.base.errors import ModelError
from harness.models.gguf.gguf_file import FloatArray, GgufFile
from harness.models.gguf.tensor_layout import Placement, TensorLayout

_BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def unpermute(values: FloatArray, heads: int) -> FloatArray:
    """Undo GGUF's order of query and key rows.

    Within a head of size d, GGUF interleaves the two halves that rotate together (row 2i and 2i + 1 are i and
    i + d/2); the folder keeps them as halves.

    Args:
        values: (heads * d, hidden).
        heads: query heads, or key/value heads for the key projection.
    """
    rows, width = values.shape
    return values.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)


def llama_layout(gguf: GgufFile) -> TensorLayout:
    """Settings and tensors of a llama model without biases or RoPE scaling.

    Raises:
        ModelError: RoPE is scaled or covers a part of the head, or a setting is missing.
    """
    if gguf.has("llama.rope.scaling.type") and gguf.text("llama.rope.scaling.type") != "none":
        raise ModelError(f"{gguf.path.name}: llama.rope.scaling.type: scaled RoPE is not supported")
    heads = gguf.integer("llama.attention.head_count")
    kv_heads = gguf.integer("llama.attention.head_count_kv")
    hidden = gguf.integer("llama.embedding_length")
    head_dim = gguf.integer("llama.attention.key_length") if gguf.has("llama.attention.key_length") else hidden // heads
    if gguf.integer("llama.rope.dimension_count") != head_dim:
        raise ModelError(f"{gguf.path.name}: llama.rope.dimension_count: RoPE over a part of the head is not supported")
    layers = gguf.integer("llama.block_count")
    theta = gguf.number("llama.rope.freq_base")
    tied = "output.weight" not in gguf.tensors
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": gguf.integer("llama.feed_forward_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "max_position_embeddings": gguf.integer("llama.context_length"),
        "rms_norm_eps": gguf.number("llama.attention.layer_norm_rms_epsilon"),
        # mlx-lm reads the top level only and takes 10000 where it is absent; transformers 5 writes the other form.
        "rope_theta": theta,
        "rope_parameters": {"rope_theta": theta, "rope_type": "default"},
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": tied,
        "vocab_size": gguf.tensor("token_embd.weight").shape[0],
    }
    head = () if tied else (Placement("output.weight", "lm_head.weight"),)
    ends = (
        Placement("token_embd.weight", "model.embed_tokens.weight"),
        Placement("output_norm.weight", "model.norm.weight"),
    )
    blocks = tuple(placement for layer in range(layers) for placement in _block(layer, heads, kv_heads))
    return TensorLayout(config, ends + head + blocks)


def _block(layer: int, heads: int, kv_heads: int) -> tuple[Placement, ...]:
    source, target = f"blk.{layer}", f"model.layers.{layer}"
    plain = tuple(Placement(f"{source}.{old}.weight", f"{target}.{new}.weight") for old, new in _BLOCK.items())
    query = partial(unpermute, heads=heads)
    key = partial(unpermute, heads=kv_heads)
    return (
        *plain,
        Placement(f"{source}.attn_q.weight", f"{target}.self_attn.q_proj.weight", query),
        Placement(f"{source}.attn_k.weight", f"{target}.self_attn.k_proj.weight", key),
    )
