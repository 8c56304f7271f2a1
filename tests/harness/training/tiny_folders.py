"""Tiny verifiers with random weights as folders, as transformers writes them, for training drafters in tests."""

from pathlib import Path
from typing import Any

import numpy as np
from mlx.utils import tree_flatten
from mlx_lm.models import gemma3_text, llama
from safetensors.numpy import save_file
from transformers import Gemma3TextConfig, LlamaConfig, PreTrainedConfig

from tests.tokenizers_for_tests import trained

SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rms_norm_eps": 1e-6,
}
CONFIG: dict[str, Any] = SHAPE | {
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
    "bos_token_id": None,
    "eos_token_id": 0,
    "pad_token_id": None,
    "dtype": "float32",
}


def llama_folder(folder: Path) -> Path:
    """Three full-attention layers."""
    layers = 3
    model = llama.Model(llama.ModelArgs(model_type="llama", num_hidden_layers=layers, vocab_size=_vocab(), **SHAPE))
    config = LlamaConfig(vocab_size=_vocab(), num_hidden_layers=layers, architectures=["LlamaForCausalLM"], **CONFIG)
    return _write(folder, config, model)


def gemma_folder(folder: Path) -> Path:
    """Four layers, the last with full attention, the others sliding over 16 positions."""
    layers = {"num_hidden_layers": 4, "sliding_window": 16, "query_pre_attn_scalar": 8, "vocab_size": _vocab()}
    model = gemma3_text.Model(gemma3_text.ModelArgs(model_type="gemma3_text", **layers, **SHAPE))
    model.sanitize({})
    layer_types = ["sliding_attention"] * 3 + ["full_attention"]
    config = Gemma3TextConfig(layer_types=layer_types, architectures=["Gemma3ForCausalLM"], **layers, **CONFIG)
    return _write(folder, config, model)


def _vocab() -> int:
    return len(trained(chat=True))


def _write(folder: Path, config: PreTrainedConfig, model: Any) -> Path:
    """The config, random weights under the names and in the shapes that `model` has, and a tokenizer."""
    rng = np.random.default_rng(5)
    shapes = {name: tuple(values.shape) for name, values in tree_flatten(model.parameters())}
    weights = {name: (rng.standard_normal(shape) * 0.25).astype(np.float32) for name, shape in sorted(shapes.items())}
    config.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    trained(chat=True).save_pretrained(folder)
    return folder
