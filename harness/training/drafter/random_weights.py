"""DFlash checkpoints of the published layout with seeded random weights.

They propose nothing of use. What they are good for is everything but speed: parity of two runtimes, and engines that
must emit the verifier's own tokens whatever is drafted.
"""

import json
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import ModelError, OutputError
from harness.models.folder.model_folder import CONFIG, open_folder
from harness.models.gguf.gguf_file import FloatArray
from harness.models.gguf.safetensors_writer import PendingTensor, write_safetensors

WEIGHTS = "model.safetensors"
HEAD_DIM = 64
NORM_SPREAD = 0.1
PEAKED = 2.0
"""Weight of the norms of queries and keys: attention peaked enough that the drafts depend on the context."""


@dataclass(frozen=True)
class RandomDflash:
    """What to make: sliding and full layers in turn, reading `targets` layers of the verifier spread over its depth."""

    layers: int = 2
    targets: int = 3
    block_size: int = 16
    window: int = 64
    seed: int = 0


def write_random_dflash(folder: Path, verifier: Path, wanted: RandomDflash) -> None:
    """Write config.json and float32 weights into the new folder `folder`, to fit the model in the folder `verifier`.

    Raises:
        ModelError: the verifier's config does not state its hidden size, layers and vocabulary.
        OutputError: `folder` exists, or cannot be written.
    """
    config = random_config(open_folder(verifier).config, verifier / CONFIG, wanted)
    draw = np.random.default_rng(wanted.seed)
    tensors = [PendingTensor(name, shape, partial(_drawn, draw, name, shape)) for name, shape in shapes(config).items()]
    try:
        folder.mkdir()
        write_safetensors(folder / WEIGHTS, tensors, lambda written: None)
        (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror}); choose a new folder") from error


def random_config(verifier: dict[str, Any], path: Path, wanted: RandomDflash) -> dict[str, Any]:
    """The drafter's config.json: a Qwen3-like stack as wide as the verifier, with a `dflash_config`."""
    text = verifier.get("text_config")
    stated = text if isinstance(text, dict) else verifier
    hidden, layers, vocab = (_count(stated, key, path) for key in ("hidden_size", "num_hidden_layers", "vocab_size"))
    head_dim = math.gcd(hidden, HEAD_DIM)
    heads = hidden // head_dim
    targets = sorted({round((index + 1) * (layers - 1) / (wanted.targets + 1)) for index in range(wanted.targets)})
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "hidden_act": "silu",
        "attention_bias": False,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": wanted.layers,
        "num_attention_heads": heads,
        "num_key_value_heads": next(count for count in range(max(1, heads // 3), 0, -1) if heads % count == 0),
        "head_dim": head_dim,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "max_position_embeddings": 32768,
        "vocab_size": vocab,
        "block_size": wanted.block_size,
        "layer_types": ["full_attention" if layer % 2 else "sliding_attention" for layer in range(wanted.layers)],
        "sliding_window": wanted.window,
        "dflash_config": {"target_layer_ids": targets, "mask_token_id": vocab - 1},
    }


def shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Tensor names of the published layout and their shapes, for a config as `random_config` makes it."""
    hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    wide, narrow = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    layer: dict[str, tuple[int, ...]] = {
        "self_attn.q_proj": (wide, hidden),
        "self_attn.k_proj": (narrow, hidden),
        "self_attn.v_proj": (narrow, hidden),
        "self_attn.o_proj": (hidden, wide),
        "self_attn.q_norm": (size,),
        "self_attn.k_norm": (size,),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
    }
    targets = len(config["dflash_config"]["target_layer_ids"])
    found: dict[str, tuple[int, ...]] = {"fc": (hidden, targets * hidden), "hidden_norm": (hidden,), "norm": (hidden,)}
    for number in range(config["num_hidden_layers"]):
        found |= {f"layers.{number}.{part}": shape for part, shape in layer.items()}
    return {f"{name}.weight": shape for name, shape in found.items()}


def _drawn(draw: np.random.Generator, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Norms around 1 (2 for queries and keys), matrices that keep the size of what they are given."""
    if len(shape) == 1:
        middle = PEAKED if name.endswith(("q_norm.weight", "k_norm.weight")) else 1.0
        return draw.normal(middle, NORM_SPREAD, shape).astype(np.float32)
    return draw.normal(0.0, shape[1] ** -0.5, shape).astype(np.float32)


def _count(config: dict[str, Any], key: str, path: Path) -> int:
    value = config.get(key)
    if type(value) is not int or value < 1:
        raise ModelError(f"{path}: {key}: {value!r} is no positive integer; no drafter can be made to fit")
    return value
