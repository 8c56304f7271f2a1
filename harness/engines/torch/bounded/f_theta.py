"""The maps of f_theta in PyTorch: loaded beside a verifier of transformers, applied as in `bounded.f_theta` above."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from harness.base.errors import ModelError
from harness.engines.bounded.f_theta import FEATURE_LIMIT, check_projection
from harness.engines.torch.bounded.arrays import TorchArrays
from harness.engines.torch.bounded.forward import Backbone, take_apart
from harness.engines.torch.verifier.load import Verifier
from harness.models.f_theta_folder import WEIGHTS, FThetaManifest

Finish = Callable[[Tensor, int], Tensor]
"""Keys before norm and RoPE, (1, K/V heads, n, head size), and the first position -> keys as attention wants them."""


@dataclass(frozen=True)
class Projection:
    """The maps of one verifier, float32: features (n, features) -> keys and values (n, 2 x K/V width)."""

    arrays: TorchArrays
    manifest: FThetaManifest
    mean: Tensor
    scale: Tensor
    weights: dict[int, Tensor]
    biases: dict[int, Tensor]
    finishers: tuple[Finish, ...]
    dtype: torch.dtype

    def normalise(self, hidden: Tensor) -> Tensor:
        """Hidden states (n, features) as they are kept, float16."""
        normal = (hidden.float() - self.mean) / self.scale
        return normal.clamp(-FEATURE_LIMIT, FEATURE_LIMIT).half()

    def project(self, layer: int, features: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """K/V of consecutive positions from `first` on, each (1, K/V heads, n, head size), in the verifier's type."""
        manifest = self.manifest
        both = features.float() @ self.weights[layer] + self.biases[layer]
        shaped = both.reshape(1, len(features), 2, manifest.kv_heads, manifest.head_dim).permute(2, 0, 3, 1, 4)
        return self.finishers[layer](shaped[0], first).to(self.dtype), shaped[1].to(self.dtype)


def load_projection(folder: Path, manifest: FThetaManifest, verifier: Verifier) -> Projection:
    """The maps of an f_theta folder whose manifest was read.

    Raises:
        ModelError: it was made for another verifier, or a weight is not finite.
        EngineError: a family of which keys cannot be finished here.
    """
    check_projection(folder, manifest, verifier)
    path = folder / WEIGHTS
    tensors = {name: tensor.float().to(verifier.device.name) for name, tensor in load_file(path).items()}
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: {name}: holds a value that is not finite; train it again")
    backbone = take_apart(verifier.model)
    return Projection(
        arrays=TorchArrays(verifier.device),
        manifest=manifest,
        mean=tensors["feature_mean"],
        scale=tensors["feature_scale"].clamp(min=1e-6),
        weights={layer: tensors[f"layers.{layer}.weight"] for layer in manifest.restorable},
        biases={layer: tensors[f"layers.{layer}.bias"] for layer in manifest.restorable},
        finishers=tuple(key_finisher(backbone, layer) for layer in range(len(backbone.layers))),
        dtype=verifier.model.dtype,
    )


def key_finisher(backbone: Backbone, layer: int) -> Finish:
    """The layer's own norm of keys, where its family has one, then its RoPE, first half of a head against second."""
    norm: Any = getattr(backbone.layers[layer].self_attn, "k_norm", None)

    def finish(keys: Tensor, first: int) -> Tensor:
        normed = norm(keys) if norm is not None else keys
        positions = torch.arange(first, first + keys.shape[2], device=keys.device)[None]
        cosine, sine = backbone.rotary(normed, positions, backbone.types[layer])
        front, back = normed.chunk(2, dim=-1)
        return normed * cosine + torch.cat([-back, front], dim=-1) * sine

    return finish
