"""A trained drafter as a folder of the published layout: config.json, model.safetensors, and K3's manifest.json."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from harness.engines.dflash_config import FULL, DflashConfig
from harness.engines.draft_vocab import CONFIG_KEY, TENSOR
from harness.models.folder.digest import weights_digest
from harness.training.drafter.net import DrafterNet
from reports.atomic_file import write_atomically

WEIGHTS, CONFIG, MANIFEST = "model.safetensors", "config.json", "manifest.json"
FRACTION_BITS = 10
"""Of a float16, the leading one not counted."""


def export(folder: Path, net: DrafterNet, ids: Tensor, fraction_bits: int = FRACTION_BITS) -> str:
    """Write config and float16 weights of `net`, whose draft vocabulary is `ids`; returns the weights' digest."""
    folder.mkdir(parents=True, exist_ok=True)
    held = net.state_dict() | {"fc.weight": net.fc.weight / net.scale}
    tensors = {name: rounded(tensor.detach().cpu(), fraction_bits) for name, tensor in held.items()}
    tensors[TENSOR] = ids.to(torch.int32)
    write_atomically((json.dumps(published(net.config), indent=2) + "\n").encode(), folder / CONFIG)
    partial = folder / f"{WEIGHTS}.partial"
    save_file(tensors, partial, {"format": "pt"})
    os.replace(partial, folder / WEIGHTS)
    return weights_digest(folder)


def rounded(tensor: Tensor, fraction_bits: int) -> Tensor:
    """As float16, the nearest with only the highest `fraction_bits` of its fraction set."""
    dropped = FRACTION_BITS - fraction_bits
    bits = tensor.to(torch.float16).contiguous().view(torch.int16).int()
    # A carry out of the fraction is the next power of two, as it should be.
    kept = (bits + (1 << dropped >> 1)) >> dropped << dropped
    return kept.to(torch.int16).view(torch.float16)


def published(config: DflashConfig) -> dict[str, Any]:
    """The config.json that `read_dflash_config` reads back as `config`."""
    layers = len(config.layer_kinds)
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "hidden_act": "silu",
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "rms_norm_eps": config.norm_eps,
        "rope_theta": config.rope_theta,
        "max_position_embeddings": config.max_position_embeddings,
        "attention_bias": False,
        "layer_types": [FULL] * layers,
        "block_size": config.block_size,
        "is_causal": False,
        CONFIG_KEY: config.draft_vocab,
        "dflash_config": {
            "target_layer_ids": list(config.target_layer_ids),
            "mask_token_id": config.mask_token_id,
            "block_size": config.block_size,
            "is_causal": False,
            CONFIG_KEY: config.draft_vocab,
        },
    }
