"""Tiny models of several architectures as they are published, and the folders mlx-lm quantises them to."""

import json
from pathlib import Path
from typing import Any

SHAPE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "num_hidden_layers": 3,
    "vocab_size": 400,
    "max_position_embeddings": 4096,
    "initializer_range": 0.2,
    "rms_norm_eps": 1e-6,
    "rope_theta": 100_000.0,
    "pad_token_id": 0,
    "eos_token_id": 0,
}
SLIDING: dict[str, Any] = {
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
    "sliding_window": 32,
}
EXPERTS: dict[str, Any] = {"num_experts": 4, "moe_intermediate_size": 32}
GEMMA4: dict[str, Any] = SHAPE | {
    "model_type": "gemma4_text",
    "global_head_dim": 64,
    "num_kv_shared_layers": 0,
    "hidden_size_per_layer_input": 0,
    "tie_word_embeddings": True,
    "final_logit_softcapping": 30.0,
    "use_double_wide_mlp": False,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": SHAPE | {"tie_word_embeddings": True},
    "qwen3": SHAPE | {"tie_word_embeddings": False, "pad_token_id": 399},
    "qwen3_moe": SHAPE
    | EXPERTS
    | {"num_experts_per_tok": 2, "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}
    | {"tie_word_embeddings": False},
    "gemma3_text": SHAPE
    | SLIDING
    | {"sliding_window_pattern": 3, "rope_local_base_freq": 10_000.0, "query_pre_attn_scalar": 32},
    # As the large ones are: experts, values taken from keys in full layers.
    "gemma4_moe": GEMMA4
    | SLIDING
    | EXPERTS
    | {"num_global_key_value_heads": 1, "attention_k_eq_v": True, "enable_moe_block": True, "top_k_experts": 2},
    # As the small ones are: an embedding a layer, and last layers without K/V of their own.
    "gemma4_shared": GEMMA4
    | {"layer_types": ["sliding_attention", "full_attention"] * 2, "sliding_window": 32, "num_hidden_layers": 4}
    | {"num_kv_shared_layers": 2, "hidden_size_per_layer_input": 32, "vocab_size_per_layer_input": 400},
}


def write_published(folder: Path, kind: str) -> Path:
    """A model with random weights, wide enough that its logits vary; Gemma 4 with experts as part of a multimodal."""
    import torch
    import transformers
    from safetensors.torch import save_file

    from tests.tokenizers_for_tests import trained

    folder.mkdir()
    config = {"model_type": kind} | CONFIGS[kind]
    write_config(folder, config)
    torch.manual_seed(3)
    read = transformers.AutoConfig.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_config(read, dtype=torch.float32)
    weights = {name: tensor for name, tensor in model.state_dict().items() if name not in model.all_tied_weights_keys}
    if kind == "gemma4_moe":
        write_config(folder, {"model_type": "gemma4", "text_config": config, "vocab_size": config["vocab_size"]})
        weights = {f"model.language_model.{name.removeprefix('model.')}": tensor for name, tensor in weights.items()}
    if kind == "qwen3_moe":
        weights = dict(pair for item in weights.items() for pair in _an_expert_each(*item))
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    trained(chat=True).save_pretrained(folder)
    return folder


def _an_expert_each(name: str, tensor: Any) -> list[tuple[str, Any]]:
    """What transformers holds as one tensor of all experts, one tensor an expert."""
    module, _, kind = name.rpartition(".")
    if kind not in ("gate_up_proj", "down_proj"):
        return [(name, tensor)]
    parts = ("gate_proj", "up_proj") if kind == "gate_up_proj" else ("down_proj",)
    return [
        (f"{module}.{expert}.{part}.weight", value.clone())
        for expert, values in enumerate(tensor)
        for part, value in zip(parts, values.chunk(len(parts)), strict=True)
    ]


def quantise(published: Path, folder: Path, **settings: Any) -> Path:
    """What mlx-lm makes of it: 4 bits, unless `settings` say otherwise, with scales in bfloat16."""
    from mlx_lm import convert

    common = {"quantize": True, "q_bits": 4, "q_group_size": 32, "dtype": "bfloat16"}
    convert(str(published), str(folder), **(common | settings))
    return folder


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """Write config.json."""
    (folder / "config.json").write_text(json.dumps(config))


def edit_config(folder: Path, **changes: object) -> None:
    """Change keys of config.json."""
    write_config(folder, json.loads((folder / "config.json").read_text()) | changes)
