"""Restoration by f_theta: K/V of evicted positions, projected from what a proposer said about each of them.

The proposer is the verifier's own first layers: what enters layer `proposer.layer` while a position is read is kept
as its features, normalised and in float16. K/V of a position outside sink + window are a linear map of its features
(keys before norm and RoPE, values), then the layer's own key norm and RoPE at the absolute position.

`transient`: only features stay; the K/V are made anew, a layer at a time, in every forward. `resident`: the K/V made
at eviction are written where the evicted ones stood, and features stay too. Both are counted in bytes.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

from harness.base.clock import Stopwatch
from harness.base.errors import EngineError, ModelError
from harness.engines.base import LoadedVerifier
from harness.engines.bounded.arrays import Array, Arrays
from harness.engines.bounded.layout import Policy
from harness.engines.bounded.restoration import Evicted
from harness.models.f_theta_folder import FThetaManifest, read_manifest
from harness.models.folder.digest import weights_digest
from harness.models.resolve import resolve
from reports.records.measurement import Restoration
from reports.restorations import RestorationMode

FEATURE_LIMIT = 60_000.0
"""Normalised features are clipped to this, which float16 can hold (65504)."""
GROWTH = 64
"""Positions by which the feature store grows at once while decoding; a prompt takes no more room than it has."""
CAPTURE = "capture"


class Maps(Protocol):
    """The maps of one verifier, as a library holds them; `weights` has those of every layer that is restored."""

    @property
    def arrays(self) -> Arrays: ...

    @property
    def manifest(self) -> FThetaManifest: ...

    @property
    def weights(self) -> Mapping[int, Array]: ...

    def normalise(self, hidden: Array) -> Array:
        """Hidden states (n, features) as they are kept, float16."""
        ...

    def project(self, layer: int, features: Array, first: int) -> tuple[Array, Array]:
        """K/V of consecutive positions from `first` on, each (1, K/V heads, n, head size)."""
        ...


SomeMaps = TypeVar("SomeMaps", bound=Maps)
LoadMaps = Callable[[Path, FThetaManifest], SomeMaps]
"""The maps of a folder whose manifest was read, for the verifier at hand."""


def load_f_theta(
    name: str, restoration: Restoration, load: LoadMaps[SomeMaps]
) -> tuple["FThetaRestorer[SomeMaps]", Restoration]:
    """The f_theta called `name`, its maps read by `load`, and `restoration` with its digest and its bytes a position.

    Raises:
        ModelError: it is missing, damaged or made for another verifier.
        EngineError: every layer it could restore is exact, or the verifier's family is unknown to it.
    """
    assert restoration.residency is not None
    found = resolve(name)
    manifest = read_manifest(found.folder)
    if manifest.weights != found.weights:
        raise ModelError(f"{found.folder}: the weights are not those its manifest names; copy the folder again")
    projection = load(found.folder, manifest)
    if not set(manifest.restorable) - set(restoration.exact_layers or ()):
        raise EngineError("f_theta: every layer that it restores is exact; leave one of them out of exact_layers")
    restored = restoration.replace(weights=found.weights, feature_bytes=manifest.feature_bytes)
    return FThetaRestorer(projection, restoration.residency), restored


def check_projection(folder: Path, manifest: FThetaManifest, verifier: LoadedVerifier) -> None:
    """See that the f_theta in `folder` is of this verifier.

    Raises:
        ModelError: it was made for another one.
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


class FeatureStore:
    """Features of all positions read so far, (n, features) in float16, with a little room to grow."""

    def __init__(self, arrays: Arrays) -> None:
        self.count = 0
        self._arrays = arrays
        self._held: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the array, spare room included."""
        return 0 if self._held is None else int(self._held.nbytes)

    def append(self, features: Array, spare: int = 0) -> None:
        """Keep the features of the next positions; where that takes more room, make `spare` positions more."""
        stop = self.count + len(features)
        held = 0 if self._held is None else len(self._held)
        if stop > held:
            room = self._arrays.zeros((stop - held + spare, features.shape[1]), features)
            self._held = room if self._held is None else self._arrays.join([self._held, room], 0)
        assert self._held is not None
        self._held[self.count : stop] = features
        self.count = stop

    def take(self, positions: range) -> Array:
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

    def arrays(self) -> list[Array]:
        """What is held, to be evaluated."""
        return [] if self._held is None else [self._held]


class FThetaRestorer(Generic[SomeMaps]):
    """f_theta over one prompt: keeps its features and makes K/V from them."""

    mode: ClassVar[RestorationMode] = "f_theta"

    def __init__(self, projection: SomeMaps, residency: Literal["resident", "transient"]) -> None:
        self.projection = projection
        self.residency = residency
        self.watch = Stopwatch(projection.arrays.now)
        self._store = FeatureStore(projection.arrays)

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

    def arrays(self) -> list[Array]:
        """The features, to be evaluated."""
        return self._store.arrays()

    def fresh(self) -> "FThetaRestorer[SomeMaps]":
        """The same maps for another prompt."""
        return FThetaRestorer(self.projection, self.residency)

    def policy(self, layer: int) -> Policy:
        """Rebuilt or restored where there is a map, dropped elsewhere."""
        if layer not in self.projection.weights:
            return "drop"
        return "rebuild" if self.residency == "transient" else "restore"

    def observe(self, hidden: Array, wait: bool) -> None:
        """Keep features of the positions being read; `hidden` (1, L, hidden) enters `capture_layer`.

        With `wait` they are evaluated, so that the seconds are those of keeping them alone.
        """
        if wait:
            self.projection.arrays.evaluate(hidden)
        with self.watch.stage(CAPTURE):
            self._store.append(self.projection.normalise(hidden[0]), 0 if wait else GROWTH)
            if wait:
                self.projection.arrays.evaluate(self._store.arrays())

    def rewind(self, count: int) -> None:
        """Forget the features of positions that were read and not accepted."""
        self._store.rewind(count)

    def restore(self, evicted: Evicted) -> tuple[Array, Array]:
        """K/V from the features of the evicted positions; the evicted ones are not looked at."""
        keys, values = self.rebuild(evicted.layer, evicted.positions)
        cast = self.projection.arrays.cast
        return cast(keys, evicted.keys), cast(values, evicted.values)

    def rebuild(self, layer: int, positions: range) -> tuple[Array, Array]:
        """K/V from the features of `positions`."""
        return self.projection.project(layer, self._store.take(positions), positions.start)
