"""Random DFlash checkpoints of the published layout, for the tiny verifiers."""

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

CONFIG: dict[str, Any] = {
    "architectures": ["DFlashDraftModel"],
    "model_type": "qwen3",
    "hidden_act": "silu",
    "attention_bias": False,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "max_position_embeddings": 512,
    "vocab_size": 97,
    "block_size": 16,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "sliding_window": 12,
    "dflash_config": {"target_layer_ids": [0, 2], "mask_token_id": 96},
}


def write_checkpoint(
    folder: Path, seed: int = 3, dtype: mx.Dtype = mx.float32, draft_vocab: list[int] | None = None, **changes: Any
) -> Path:
    """A folder with config.json and weights wide enough that the drafts vary."""
    config = CONFIG | ({} if draft_vocab is None else {"k3_draft_vocab": len(draft_vocab)}) | changes
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    draw = np.random.default_rng(seed)
    hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    wide, narrow = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    targets = len(config["dflash_config"].get("target_layer_ids", [0]))
    shapes = {"fc": (hidden, targets * hidden), "hidden_norm": (hidden,), "norm": (hidden,)}
    for layer in range(config["num_hidden_layers"]):
        attention = {"q_proj": (wide, hidden), "k_proj": (narrow, hidden), "v_proj": (narrow, hidden)}
        attention |= {"o_proj": (hidden, wide), "q_norm": (size,), "k_norm": (size,)}
        mlp = {"gate_proj": (inner, hidden), "up_proj": (inner, hidden), "down_proj": (hidden, inner)}
        name = f"layers.{layer}"
        shapes |= {f"{name}.self_attn.{part}": shape for part, shape in attention.items()}
        shapes |= {f"{name}.mlp.{part}": shape for part, shape in mlp.items()}
        shapes |= {f"{name}.{part}_layernorm": (hidden,) for part in ("input", "post_attention")}
    weights = {
        f"{name}.weight": mx.array(draw.normal(1.0 if len(shape) == 1 else 0.0, 0.3, shape).astype(np.float32))
        for name, shape in shapes.items()
    }
    stored = {name: array.astype(dtype) for name, array in weights.items()}
    if draft_vocab is not None:
        stored["draft_vocab"] = mx.array(draft_vocab, mx.int32)
    mx.save_safetensors(str(folder / "model.safetensors"), stored)
    return folder
