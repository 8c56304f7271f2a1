"""Projections with random maps, small enough to leave attention peaked."""

import mlx.core as mx

from harness.engines.bounded.f_theta import FThetaRestorer
from harness.engines.mlx.bounded.f_theta import Projection, attention_layers, key_finisher
from harness.engines.mlx.verifier.load import Verifier
from harness.models.f_theta_folder import FThetaCorpus, FThetaManifest, LayerFit, Proposer

HIDDEN = 32
NOTHING = "sha256:" + "1" * 64


def manifest_of(verifier: Verifier, layer: int, restorable: tuple[int, ...] | None = None) -> FThetaManifest:
    """A manifest for `verifier`, features from `layer`, all layers restorable unless said."""
    architecture = verifier.architecture
    listed = tuple(range(architecture.layers)) if restorable is None else restorable
    return FThetaManifest(
        format=1,
        verifier="tiny",
        verifier_weights=NOTHING,
        proposer=Proposer(kind="verifier_layer", layer=layer, features=HIDDEN),
        layers=architecture.layers,
        kv_heads=architecture.kv_heads,
        head_dim=architecture.head_dim,
        restorable=listed,
        ridge=1e-4,
        corpus=FThetaCorpus(digest=NOTHING, description="none", seed=0, texts=1, tokens=1),
        fits=tuple(LayerFit(layer=layer, keys=0.1, values=0.1) for layer in listed),
        weights=NOTHING,
        command="k3 train ftheta",
    )


def projection_of(verifier: Verifier, layer: int, restorable: tuple[int, ...] | None = None) -> Projection:
    """Random maps, seeded by layer."""
    manifest = manifest_of(verifier, layer, restorable)
    width = 2 * manifest.kv_heads * manifest.head_dim
    keys = {index: mx.random.key(index) for index in manifest.restorable}
    return Projection(
        manifest=manifest,
        mean=mx.zeros((HIDDEN,)),
        scale=mx.full((HIDDEN,), 3.0),
        weights={index: 0.3 * mx.random.normal((HIDDEN, width), key=key) for index, key in keys.items()},
        biases={index: mx.full((width,), 0.1) for index in keys},
        finishers=tuple(key_finisher(layer) for layer in attention_layers(verifier.model)),
    )


def f_theta_of(
    verifier: Verifier, layer: int, residency: str, restorable: tuple[int, ...] | None = None
) -> FThetaRestorer:
    """A restorer of random maps for one prompt."""
    return FThetaRestorer(projection_of(verifier, layer, restorable), residency)  # type: ignore[arg-type]
