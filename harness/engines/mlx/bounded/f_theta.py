"""The maps of f_theta in MLX: loaded beside a verifier of mlx-lm, applied as `harness.engines.bounded.f_theta` asks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import mlx.core as mx

from harness.base.errors import EngineError, ModelError
from harness.engines.bounded.arrays import Arrays
from harness.engines.bounded.f_theta import FEATURE_LIMIT, check_projection
from harness.engines.mlx.bounded.arrays import ARRAYS
from harness.engines.mlx.verifier.load import Verifier
from harness.models.f_theta_folder import WEIGHTS, FThetaManifest

Finish = Callable[[mx.array, int], mx.array]
"""Keys before norm and RoPE, (1, K/V heads, n, head size), and the first position -> keys as attention wants them."""


@dataclass(frozen=True)
class Projection:
    """The maps of one verifier, float32: features (n, features) -> keys and values (n, 2 x K/V width)."""

    arrays: ClassVar[Arrays] = ARRAYS
    manifest: FThetaManifest
    mean: mx.array
    scale: mx.array
    weights: dict[int, mx.array]
    biases: dict[int, mx.array]
    finishers: tuple[Finish, ...]

    def normalise(self, hidden: mx.array) -> mx.array:
        """Hidden states (n, features) as they are kept, float16."""
        normal = (hidden.astype(mx.float32) - self.mean) / self.scale
        return mx.clip(normal, -FEATURE_LIMIT, FEATURE_LIMIT).astype(mx.float16)

    def project(self, layer: int, features: mx.array, first: int) -> tuple[mx.array, mx.array]:
        """K/V of consecutive positions from `first` on, each (1, K/V heads, n, head size)."""
        manifest = self.manifest
        both = features.astype(mx.float32) @ self.weights[layer] + self.biases[layer]
        shaped = both.reshape(1, len(features), 2, manifest.kv_heads, manifest.head_dim).transpose(2, 0, 3, 1, 4)
        return self.finishers[layer](shaped[0], first), shaped[1]


def load_projection(folder: Path, manifest: FThetaManifest, verifier: Verifier) -> Projection:
    """The maps of an f_theta folder whose manifest was read.

    Raises:
        ModelError: it was made for another verifier, or a weight is not finite.
        EngineError: a family of which keys cannot be finished here.
    """
    check_projection(folder, manifest, verifier)
    arrays = _finite(folder / WEIGHTS)
    return Projection(
        manifest=manifest,
        mean=arrays["feature_mean"],
        scale=mx.maximum(arrays["feature_scale"], 1e-6),
        weights={layer: arrays[f"layers.{layer}.weight"] for layer in manifest.restorable},
        biases={layer: arrays[f"layers.{layer}.bias"] for layer in manifest.restorable},
        finishers=tuple(key_finisher(layer) for layer in attention_layers(verifier.model)),
    )


def _finite(path: Path) -> dict[str, mx.array]:
    """The arrays of a safetensors file as float32, checked to be numbers."""
    loaded = mx.load(str(path))
    assert isinstance(loaded, dict)
    arrays = {name: array.astype(mx.float32) for name, array in loaded.items()}
    mx.eval(arrays)
    for name, array in arrays.items():
        if not mx.all(mx.isfinite(array)).item():
            raise ModelError(f"{path}: {name}: holds a value that is not finite; train it again")
    return arrays


def attention_layers(model: Any) -> list[Any]:
    """The layers of a model (mlx-lm's), multimodal wrappers taken off."""
    inner = getattr(model, "language_model", model)
    return list(inner.model.layers)


def key_finisher(layer: Any) -> Finish:
    """The layer's own norm of keys, where its family has one, then its RoPE.

    Raises:
        EngineError: the layer's attention has no RoPE of the known form.
    """
    attention = layer.self_attn
    rope, norm = getattr(attention, "rope", None), getattr(attention, "k_norm", None)
    if rope is None:
        raise EngineError(f"f_theta: {type(attention).__module__} has no RoPE to give to restored keys")
    return lambda keys, first: rope(norm(keys) if norm is not None else keys, offset=first)
