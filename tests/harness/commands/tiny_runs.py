"""Tiny random verifiers and drafters on disk, for commands from end to end."""

from pathlib import Path

from harness.training.drafter.random_weights import RandomDflash, write_random_dflash
from tests.harness.model_folders import write_folder
from tests.harness.tiny_models import SHAPE, verifier_of


def tiny_model(folder: Path, seed: int = 7) -> Path:
    """A llama of two layers with random weights and a tokenizer trained for the tests."""
    from mlx_lm.models import llama

    args = llama.ModelArgs(model_type="llama", num_hidden_layers=2, **(SHAPE | {"vocab_size": 400}))
    return write_folder(folder, verifier_of(llama.Model(args), "llama", seed), max_position_embeddings=8192)


def tiny_gemma4_4bit(folder: Path) -> Path:
    """Gemma 4 as the Macs' verifier is built: multimodal wrapper, experts, sliding rings, bfloat16 in 4 bits."""
    import mlx.core as mx
    from mlx import nn
    from mlx.utils import tree_map
    from mlx_lm.models import gemma4

    text = SHAPE | {
        "model_type": "gemma4_text",
        "hidden_size": 64,
        "intermediate_size": 64,
        "head_dim": 16,
        "global_head_dim": 32,
        "num_hidden_layers": 3,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        "sliding_window": 128,
        "num_kv_shared_layers": 0,
        "hidden_size_per_layer_input": 0,
        "num_global_key_value_heads": 1,
        "attention_k_eq_v": True,
        "enable_moe_block": True,
        "num_experts": 4,
        "top_k_experts": 2,
        "moe_intermediate_size": 32,
        "max_position_embeddings": 8192,
    }
    model = gemma4.Model(gemma4.ModelArgs(model_type="gemma4", text_config=text, vocab_size=400))
    verifier = verifier_of(model, "gemma4")
    model.update(tree_map(lambda weight: weight.astype(mx.bfloat16), model.parameters()))
    nn.quantize(model, group_size=32, bits=4)
    return write_folder(folder, verifier, quantization={"group_size": 32, "bits": 4})


def tiny_drafter(folder: Path, verifier: Path, seed: int = 0) -> Path:
    """A DFlash checkpoint of the published layout with random weights, for the verifier in that folder."""
    write_random_dflash(folder, verifier, RandomDflash(block_size=8, window=12, seed=seed))
    return folder
