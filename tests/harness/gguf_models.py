"""Tiny models with random weights, written as GGUF files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["t h", "th e", "Ġ the", "1 2", "Ġ Ġ", "e r"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class TinyModel:
    """A GGUF file and the weights it was made from, under the names and in the layout of transformers."""

    gguf: Path
    weights: Weights


def _interleave(values: np.ndarray, heads: int) -> np.ndarray:
    """GGUF's order of query and key rows, by index: row 2i of a head is i, row 2i + 1 is i + half."""
    size = len(values) // heads
    order = [row for pair in range(size // 2) for row in (pair, pair + size // 2)]
    return values[[head * size + row for head in range(heads) for row in order]]


def _random(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.standard_normal(shape) * 0.2).astype(np.float32)


def _byte_alphabet() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def write_llama(path: Path, seed: int, edit: Callable[[gguf.GGUFWriter], None] | None) -> TinyModel:
    rng = np.random.default_rng(seed)
    tokens = SPECIALS + _byte_alphabet() + [merge.replace(" ", "") for merge in MERGES]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_context_length(4096)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(96)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(100000.0)
    writer.add_rope_dimension_count(16)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIALS) + [1] * (len(tokens) - len(SPECIALS)))
    writer.add_token_merges(MERGES)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    weights: Weights = {}

    def put(stored: str, name: str, values: np.ndarray, heads: int = 0) -> None:
        weights[name] = values
        writer.add_tensor(stored, np.ascontiguousarray(_interleave(values, heads)) if heads else values)

    put("token_embd.weight", "model.embed_tokens.weight", _random(rng, len(tokens), 64))
    put("output_norm.weight", "model.norm.weight", 1 + _random(rng, 64))
    for layer in range(2):
        old, new = f"blk.{layer}", f"model.layers.{layer}"
        put(f"{old}.attn_norm.weight", f"{new}.input_layernorm.weight", 1 + _random(rng, 64))
        put(f"{old}.attn_q.weight", f"{new}.self_attn.q_proj.weight", _random(rng, 64, 64), 4)
        put(f"{old}.attn_k.weight", f"{new}.self_attn.k_proj.weight", _random(rng, 32, 64), 2)
        put(f"{old}.attn_v.weight", f"{new}.self_attn.v_proj.weight", _random(rng, 32, 64))
        put(f"{old}.attn_output.weight", f"{new}.self_attn.o_proj.weight", _random(rng, 64, 64))
        put(f"{old}.ffn_norm.weight", f"{new}.post_attention_layernorm.weight", 1 + _random(rng, 64))
        put(f"{old}.ffn_gate.weight", f"{new}.mlp.gate_proj.weight", _random(rng, 96, 64))
        put(f"{old}.ffn_up.weight", f"{new}.mlp.up_proj.weight", _random(rng, 96, 64))
        put(f"{old}.ffn_down.weight", f"{new}.mlp.down_proj.weight", _random(rng, 64, 96))
    if edit is not None:
        edit(writer)
    _finish(writer)
    return TinyModel(path, weights)


GEMMA_HEAD = ["<pad>", "<eos>", "<bos>", "<unk>"]
GEMMA_DEFINED = ["\n", "\n\n", "  ", "   ", "<b>"]
GEMMA_PIECES = ["▁t", "he", "▁the", "ab", "abc", "bc", "▁a", "é", "12", *"▁abcdeht<>12é"]


def write_gemma(path: Path, seed: int) -> TinyModel:
    rng = np.random.default_rng(seed)
    pieces = list(dict.fromkeys(GEMMA_PIECES))
    tokens = GEMMA_HEAD + GEMMA_DEFINED + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    types = [3] * len(GEMMA_HEAD) + [4] * len(GEMMA_DEFINED) + [6] * 256 + [1] * len(pieces)
    scores = [-1000.0] * (len(GEMMA_HEAD) + len(GEMMA_DEFINED)) + [0.0] * 256 + [float(-n) for n in range(len(pieces))]
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_block_count(6)
    writer.add_context_length(4096)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_key_length(16)
    writer.add_value_length(16)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_sliding_window(8)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_pad_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    weights: Weights = {}

    def put(stored: str, name: str, *shape: int) -> None:
        values = _random(rng, *shape)
        weights[name] = values
        writer.add_tensor(stored, values + np.float32(1) if len(shape) == 1 else values)

    put("token_embd.weight", "model.embed_tokens.weight", len(tokens), 32)
    put("output_norm.weight", "model.norm.weight", 32)
    for layer in range(6):
        old, new = f"blk.{layer}", f"model.layers.{layer}"
        put(f"{old}.attn_norm.weight", f"{new}.input_layernorm.weight", 32)
        put(f"{old}.attn_q.weight", f"{new}.self_attn.q_proj.weight", 32, 32)
        put(f"{old}.attn_k.weight", f"{new}.self_attn.k_proj.weight", 16, 32)
        put(f"{old}.attn_v.weight", f"{new}.self_attn.v_proj.weight", 16, 32)
        put(f"{old}.attn_output.weight", f"{new}.self_attn.o_proj.weight", 32, 32)
        put(f"{old}.attn_q_norm.weight", f"{new}.self_attn.q_norm.weight", 16)
        put(f"{old}.attn_k_norm.weight", f"{new}.self_attn.k_norm.weight", 16)
        put(f"{old}.post_attention_norm.weight", f"{new}.post_attention_layernorm.weight", 32)
        put(f"{old}.ffn_norm.weight", f"{new}.pre_feedforward_layernorm.weight", 32)
        put(f"{old}.post_ffw_norm.weight", f"{new}.post_feedforward_layernorm.weight", 32)
        put(f"{old}.ffn_gate.weight", f"{new}.mlp.gate_proj.weight", 64, 32)
        put(f"{old}.ffn_up.weight", f"{new}.mlp.up_proj.weight", 64, 32)
        put(f"{old}.ffn_down.weight", f"{new}.mlp.down_proj.weight", 32, 64)
    _finish(writer)
    return TinyModel(path, weights)


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
