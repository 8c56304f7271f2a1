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


def export(folder: Path, net: DrafterNet, ids: Tensor, dtype: torch.dtype = torch.float16) -> str:
    """Write config and weights of `net`, whose draft vocabulary is `ids`, and return the digest of the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().to(dtype).cpu().contiguous() for name, tensor in net.state_dict().items()}
    tensors["fc.weight"] = (net.fc.weight.detach() / net.scale).to(dtype).cpu().contiguous()
    tensors[TENSOR] = ids.to(torch.int32)
    write_atomically((json.dumps(published(net.config), indent=2) + "\n").encode(), folder / CONFIG)
    partial = folder / f"{WEIGHTS}.partial"
    save_file(tensors, partial, {"format": "pt"})
    os.replace(partial, folder / WEIGHTS)
    return weights_digest(folder)


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
