"""Tiny verifiers with random weights, built from transformers' own classes; greedy streams that wander."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from harness.engines.base import Block, DecodeLimit, Engine
from harness.engines.torch.device import open_device
from harness.engines.torch.verifier.load import Verifier, read_architecture

VOCAB = 97
SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": VOCAB,
    "tie_word_embeddings": False,
    "attn_implementation": "sdpa",
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": None,
}


def verifier_of(model: Any, seed: int = 7) -> Verifier:
    """`model` with weights wide enough that attention is peaked and streams vary, and no tokenizer."""
    generator = torch.Generator().manual_seed(seed)
    for weight in model.parameters():
        weight.data.copy_(0.35 * torch.randn(weight.shape, generator=generator))
    model = model.eval().requires_grad_(False)
    described = read_architecture(model, {"model_type": model.config.model_type}, (0,))
    return Verifier(model, None, described, open_device("cpu"))


@cache
def torch_llama() -> Verifier:
    """Four full-attention layers, four heads over two K/V heads."""
    return verifier_of(LlamaForCausalLM(LlamaConfig(num_hidden_layers=4, **SHAPE)))


@cache
def torch_qwen3() -> Verifier:
    """Norms on queries and keys."""
    return verifier_of(Qwen3ForCausalLM(Qwen3Config(num_hidden_layers=3, **SHAPE)))


@cache
def torch_gemma() -> Verifier:
    """Six layers, full attention at 2 and 5, the others sliding over 16 positions."""
    kinds = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    config = Gemma3TextConfig(
        num_hidden_layers=6, sliding_window=16, layer_types=kinds, query_pre_attn_scalar=8, **SHAPE
    )
    return verifier_of(Gemma3ForCausalLM(config))


def decoded(engine: Engine, prompt: Sequence[int], length: int) -> tuple[list[int], list[Block]]:
    """The stream of `length` tokens, and its blocks."""
    session = engine.prefill(prompt)
    blocks = list(engine.decode(session, DecodeLimit(length, {})))
    return [session.first_token, *(token for block in blocks for token in block.tokens)], blocks
