"""The folder of an f_theta: its manifest, and everything about it that can be checked without a tensor library.

    config.json           model_type `k3_f_theta`, so that the folder resolves like any model's
    manifest.json         `FThetaManifest`
    f_theta.safetensors   `feature_mean`, `feature_scale` (features,) in float32, and for each restorable layer in
                          float16 `layers.N.weight` (features, 2 x K/V width) and `layers.N.bias` (2 x K/V width,)

K/V width is K/V heads x head size; the first half of a layer's outputs are its keys before norm and RoPE, the second
its values.
"""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from harness.base.errors import ModelError
from harness.models.folder.files import read_file
from harness.models.folder.safetensors_file import TensorEntry, read_header
from harness.models.folder.weights import F_THETA_WEIGHTS
from reports.records.recipe import Recipe
from reports.records.record import Count, Digest, Name, Record
from reports.untrusted.faults import describe_invalid

MODEL_TYPE = "k3_f_theta"
CONFIG_TEXT = json.dumps({"architectures": ["FTheta"], "model_type": MODEL_TYPE}, indent=2) + "\n"
MANIFEST, WEIGHTS = "manifest.json", F_THETA_WEIGHTS
MANIFEST_LIMIT = 1024**2
Size = Annotated[int, Field(ge=1, le=2**20)]
Layer = Annotated[int, Field(ge=0, le=4096)]
Rate = Annotated[float, Field(gt=0.0)]
Divergence = Annotated[float, Field(ge=0.0)]
RelativeError = Annotated[float, Field(ge=0.0, description="Sum of squares of the residual over that of the centred")]


class Proposer(Record):
    """Where the features come from: what enters layer `layer` of the verifier itself as it reads the tokens."""

    kind: Literal["verifier_layer"]
    layer: Layer
    features: Size
    dtype: Literal["float16"] = Field("float16", description="Of the normalised features as they are kept")


class LayerFit(Record):
    """How well one layer is restored on text that was not fitted to, keys before RoPE."""

    layer: Layer
    keys: RelativeError
    values: RelativeError


class FThetaCorpus(Record):
    """What it was fitted on; `digest` is over all token ids in order."""

    digest: Digest
    description: Name
    seed: Count
    texts: Count
    tokens: Count


class HeldOutRecall(Record):
    """Needle prompts of a seed not trained on: tokens of codes that stay the argmax with everything restored."""

    seed: Count
    lines: Count = Field(description="Mean size of a haystack")
    prompts: Count
    verifier: Count = Field(description="Prompts whose code is the verifier's own argmax throughout, unbounded")
    restored: Count
    ablated: Count


class FineTuning(Record):
    """What descent on the verifier's logits made of the ridge's maps, measured on text it did not read.

    A divergence is that of the restored verifier from the unbounded one, in nats a position at the end of a text.
    `kept`: the weights are the fine-tuned ones; otherwise they were no better, and the weights are still the ridge's.
    """

    steps: Count
    rate: Rate
    sequences: Count = Field(description="Texts a step")
    ridge_weights: Digest
    held_out: Count = Field(description="Texts")
    divergence_before: Divergence
    divergence_after: Divergence
    recall_before: HeldOutRecall | None
    recall_after: HeldOutRecall | None
    kept: bool


class FThetaManifest(Record):
    """What an f_theta is, for which verifier, and how good it was found to be."""

    format: Literal[1]
    verifier: Name
    verifier_weights: Digest
    proposer: Proposer
    layers: Annotated[int, Field(ge=1, le=4096, description="Of the verifier")]
    kv_heads: Size
    head_dim: Size
    restorable: tuple[Layer, ...]
    ridge: Annotated[float, Field(gt=0, description="Added to the diagonal of the features' correlation matrix")]
    corpus: FThetaCorpus
    fits: tuple[LayerFit, ...]
    recall: HeldOutRecall | None = None
    fine_tuning: FineTuning | None = None
    weights: Digest
    command: Name
    recipe: Recipe | None = None

    @property
    def feature_bytes(self) -> int:
        """Bytes kept for each position: one float16 a feature."""
        return 2 * self.proposer.features

    def tensors(self) -> tuple[TensorEntry, ...]:
        """The tensors the weights file holds."""
        features, width = self.proposer.features, 2 * self.kv_heads * self.head_dim
        entries = [TensorEntry(f"feature_{name}", "F32", (features,)) for name in ("mean", "scale")]
        for layer in self.restorable:
            entries.append(TensorEntry(f"layers.{layer}.weight", "F16", (features, width)))
            entries.append(TensorEntry(f"layers.{layer}.bias", "F16", (width,)))
        return tuple(entries)


def read_manifest(folder: Path) -> FThetaManifest:
    """The manifest of an f_theta folder, with its weights file known to hold exactly what it announces.

    Raises:
        ModelError: missing, too large, invalid or contradicting itself, or weights of other names, shapes or type.
    """
    path = folder / MANIFEST
    try:
        manifest = FThetaManifest.model_validate_json(read_file(path, MANIFEST_LIMIT))
    except ValidationError as error:
        raise ModelError(f"{path}: {describe_invalid(error)}; train it again with `k3 train ftheta`") from error
    _check_layers(path, manifest)
    _check_tensors(folder / WEIGHTS, manifest, read_header(folder / WEIGHTS))
    return manifest


def _check_layers(path: Path, manifest: FThetaManifest) -> None:
    listed = manifest.restorable
    if list(listed) != sorted(set(listed)) or not listed or listed[-1] >= manifest.layers:
        raise ModelError(f"{path}: restorable: not ascending layers below {manifest.layers}, without repeats")
    if manifest.proposer.layer >= manifest.layers:
        raise ModelError(f"{path}: proposer.layer: {manifest.proposer.layer} is none of {manifest.layers} layers")


def _check_tensors(path: Path, manifest: FThetaManifest, found: tuple[TensorEntry, ...]) -> None:
    announced, seen = manifest.tensors(), {tensor.name: tensor for tensor in found}
    for tensor in announced:
        there = seen.pop(tensor.name, None)
        if there != tensor:
            what = "missing" if there is None else f"{there.dtype} {list(there.shape)}"
            raise ModelError(
                f"{path}: {tensor.name}: {what} where {MANIFEST} announces {tensor.dtype} {list(tensor.shape)}"
            )
    if seen:
        raise ModelError(f"{path}: {sorted(seen)[0][:100]}: a tensor that {MANIFEST} does not announce")
