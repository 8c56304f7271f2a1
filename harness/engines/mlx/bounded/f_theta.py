"""Restoration by f_theta: K/V of evicted positions, projected from what a proposer said about each of them.

The proposer is the verifier's own first layers: what enters layer `proposer.layer` while a position is read is kept
as its features, normalised and in float16. K/V of a position outside sink + window are a linear map of its features
(keys before norm and RoPE, values), then the layer's own key norm and RoPE at the absolute position.

`transient`: only features stay; the K/V are made anew, a layer at a time, in every forward. `resident`: the K/V made
at eviction are written where the evicted ones stood, and features stay too. Both are counted in bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import mlx.core as mx

from harness.base.clock import Stopwatch
from harness.base.errors import EngineError, ModelError
from harness.engines.mlx.bounded.layout import Policy
from harness.engines.mlx.bounded.restoration import Evicted
from harness.engines.mlx.verifier.load import Verifier
from harness.models.f_theta_folder import WEIGHTS, FThetaManifest, read_manifest
from harness.models.folder.digest import weights_digest
from harness.models.resolve import resolve
from reports.records.measurement import Restoration
from reports.restorations import RestorationMode

FEATURE_LIMIT = 60_000.0
"""Normalised features are clipped to this, which float16 can hold (65504)."""
GROWTH = 64
"""Positions by which the feature store grows at once while decoding; a prompt takes no more room than it has."""
CAPTURE = "capture"
Finish = Callable[[mx.array, int], mx.array]
"""Keys before norm and RoPE, (1, K/V heads, n, head size), and the first position -> keys as attention wants them."""


@dataclass(frozen=True)
class Projection:
    """The maps of one verifier, float32: features (n, features) -> keys and values (n, 2 x K/V width)."""

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


def load_f_theta(name: str, restoration: Restoration, verifier: Verifier) -> tuple["FThetaRestorer", Restoration]:
    """The f_theta called `name`, on `verifier`, and `restoration` with its digest and its bytes a position.

    Raises:
        ModelError: it is missing, damaged or made for another verifier.
        EngineError: every layer it could restore is exact, or the verifier's family is unknown to it.
    """
    assert restoration.residency is not None
    found = resolve(name)
    manifest = read_manifest(found.folder)
    if manifest.weights != found.weights:
        raise ModelError(f"{found.folder}: the weights are not those its manifest names; copy the folder again")
    projection = load_projection(found.folder, manifest, verifier)
    if not set(manifest.restorable) - set(restoration.exact_layers or ()):
        raise EngineError("f_theta: every layer that it restores is exact; leave one of them out of exact_layers")
    restored = restoration.replace(weights=found.weights, feature_bytes=manifest.feature_bytes)
    return FThetaRestorer(projection, restoration.residency), restored


def load_projection(folder: Path, manifest: FThetaManifest, verifier: Verifier) -> Projection:
    """The maps of an f_theta folder whose manifest was read.

    Raises:
        ModelError: it was made for another verifier, or a weight is not finite.
        EngineError: a family of which keys cannot be finished here.
    """
    if verifier.folder is None:
        raise ModelError(f"{folder}: the verifier has no weights on disk, so whether it is the right one is not known")
    architecture, digest = verifier.architecture, weights_digest(verifier.folder)
    if manifest.verifier_weights != digest:
        raise ModelError(
            f"{folder}: made for a verifier with weights {manifest.verifier_weights[:19]}, not {digest[:19]}; train "
            "one for this verifier with `k3 train ftheta`"
        )
    made_for = (manifest.layers, manifest.kv_heads, manifest.head_dim)
    if made_for != (architecture.layers, architecture.kv_heads, architecture.head_dim):
        raise ModelError(f"{folder}: layers, K/V heads and head size {made_for} are not the verifier's")
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


class FeatureStore:
    """Features of all positions read so far, (n, features) in float16, with a little room to grow."""

    def __init__(self) -> None:
        self.count = 0
        self._held: mx.array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the array, spare room included."""
        return 0 if self._held is None else int(self._held.nbytes)

    def append(self, features: mx.array, spare: int = 0) -> None:
        """Keep the features of the next positions; where that takes more room, make `spare` positions more."""
        stop = self.count + len(features)
        held = 0 if self._held is None else len(self._held)
        if stop > held:
            room = mx.zeros((stop - held + spare, features.shape[1]), features.dtype)
            self._held = room if self._held is None else mx.concatenate([self._held, room])
        assert self._held is not None
        self._held[self.count : stop] = features
        self.count = stop

    def take(self, positions: range) -> mx.array:
        """Features of consecutive positions.

        Raises:
            EngineError: one of them was not read yet.
        """
        if self._held is None or positions.stop > self.count:
            raise EngineError(f"f_theta: features of position {positions.stop - 1} are wanted, {self.count} are there")
        return self._held[positions.start : positions.stop]

    def rewind(self, count: int) -> None:
        """Forget all positions from `count` on; their room is written over."""
        self.count = min(self.count, count)

    def arrays(self) -> list[mx.array]:
        """What is held, to be evaluated."""
        return [] if self._held is None else [self._held]


class FThetaRestorer:
    """f_theta over one prompt: keeps its features and makes K/V from them."""

    mode: ClassVar[RestorationMode] = "f_theta"

    def __init__(self, projection: Projection, residency: Literal["resident", "transient"]) -> None:
        self.projection = projection
        self.residency = residency
        self.watch = Stopwatch()
        self._store = FeatureStore()

    @property
    def nbytes(self) -> int:
        """Bytes of the features kept."""
        return self._store.nbytes

    @property
    def capture_layer(self) -> int:
        """The layer whose input is kept."""
        return self.projection.manifest.proposer.layer

    @property
    def seconds(self) -> float:
        """Seconds spent keeping features."""
        return self.watch.total(CAPTURE)

    def arrays(self) -> list[mx.array]:
        """The features, to be evaluated."""
        return self._store.arrays()

    def fresh(self) -> "FThetaRestorer":
        """The same maps for another prompt."""
        return FThetaRestorer(self.projection, self.residency)

    def policy(self, layer: int) -> Policy:
        """Rebuilt or restored where there is a map, dropped elsewhere."""
        if layer not in self.projection.weights:
            return "drop"
        return "rebuild" if self.residency == "transient" else "restore"

    def observe(self, hidden: mx.array, wait: bool) -> None:
        """Keep features of the positions being read; `hidden` (1, L, hidden) enters `capture_layer`.

        With `wait` they are evaluated, so that the seconds are those of keeping them alone.
        """
        if wait:
            mx.eval(hidden)
        with self.watch.stage(CAPTURE):
            self._store.append(self.projection.normalise(hidden[0]), 0 if wait else GROWTH)
            if wait:
                mx.eval(self._store.arrays())

    def rewind(self, count: int) -> None:
        """Forget the features of positions that were read and not accepted."""
        self._store.rewind(count)

    def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
        """K/V from the features of the evicted positions; the evicted ones are not looked at."""
        keys, values = self.rebuild(evicted.layer, evicted.positions)
        return keys.astype(evicted.keys.dtype), values.astype(evicted.values.dtype)

    def rebuild(self, layer: int, positions: range) -> tuple[mx.array, mx.array]:
        """K/V from the features of `positions`."""
        return self.projection.project(layer, self._store.take(positions), positions.start)
