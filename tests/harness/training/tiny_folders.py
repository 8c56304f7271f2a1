"""Tiny verifiers with random weights as folders, as transformers writes them, for training drafters in tests."""

from pathlib import Path

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM

from tests.tokenizers_for_tests import trained

SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
    "bos_token_id": None,
    "eos_token_id": 0,
    "pad_token_id": None,
}


def llama_folder(folder: Path) -> Path:
    """Three full-attention layers."""
    return _write(folder, LlamaForCausalLM(LlamaConfig(vocab_size=_vocab(), num_hidden_layers=3, **SHAPE)))


def gemma_folder(folder: Path) -> Path:
    """Four layers, the last with full attention, the others sliding over 16 positions."""
    layer_types = ["sliding_attention"] * 3 + ["full_attention"]
    config = Gemma3TextConfig(
        vocab_size=_vocab(),
        num_hidden_layers=4,
        sliding_window=16,
        layer_types=layer_types,
        query_pre_attn_scalar=8,
        **SHAPE,
    )
    return _write(folder, Gemma3ForCausalLM(config))


def _vocab() -> int:
    return len(trained(chat=True))


def _write(folder: Path, model: LlamaForCausalLM | Gemma3ForCausalLM) -> Path:
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.25, generator=generator)
    model.save_pretrained(folder)
    trained(chat=True).save_pretrained(folder)
    return folder
