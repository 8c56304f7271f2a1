"""How a drafter is trained, and what is written down about one that was."""

from typing import Literal

from pydantic import Field, FiniteFloat

from harness.training.corpus import CorpusRecipe
from harness.training.drafter.held_out.caution import BlockCosts, Caution
from harness.training.drafter.held_out.walk import HeldOutResult
from reports.records.provenance import Package
from reports.records.recipe import Recipe
from reports.records.record import Digest, Name, Record


class TrainingRecipe(Record):
    """Everything that decides the weights besides the corpus and the machine's rounding."""

    seed: int = Field(7, ge=0, le=2**31)
    start: Digest | None = Field(None, description="Weights it goes on from; none for random ones")
    shards: int = Field(28, ge=1, le=99_999, description="Shards of the corpus")
    depth: int = Field(2, ge=1, le=8, description="Layers of the drafter")
    intermediate: int | None = Field(None, ge=8, le=2**16, description="Width of its MLPs; none: the verifier's")
    block_size: int = Field(8, ge=2, le=64)
    draft_vocab: int = Field(6000, ge=1, description="Tokens it may propose, at most")
    mask_token_id: int = Field(ge=0)
    steps: int = Field(2000, ge=1)
    sequences: int = Field(4, ge=1, description="A step")
    anchors: int = Field(32, ge=1, description="A sequence")
    rate: FiniteFloat = Field(5e-4, gt=0, description="Peak learning rate")
    warm_up: int = Field(200, ge=0)
    horizon: FiniteFloat = Field(4.0, gt=0, description="Positions over which a draft's weight in the loss falls by e")
    distil: FiniteFloat = Field(0.0, ge=0, lt=1, description="Share of the loss on the verifier's logits")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="Of products; weights are float32")
    fraction_bits: int = Field(10, ge=1, le=10, description="Kept of every float16 weight: fewer pack smaller")
    interval: int = Field(50, ge=1, description="Steps between checkpoints")
    costs: BlockCosts = Field(default_factory=BlockCosts, description="By which it is learnt how sure it should be")

    def rate_at(self, step: int) -> float:
        """Linear warm-up, then linearly down to a twentieth of the peak."""
        if step < self.warm_up:
            return self.rate * (step + 1) / self.warm_up
        left = (self.steps - step) / max(1, self.steps - self.warm_up)
        return self.rate * max(left, 0.05)


class Progress(Record):
    """What a checkpoint saw: the mean loss of the steps since the one before, and the held-out sequences."""

    step: int
    loss: FiniteFloat
    held_out: HeldOutResult


class DrafterManifest(Record):
    """Beside the weights of a drafter K3 trained: what they are, for which verifier, from what, and how good."""

    kind: Literal["dflash"] = "dflash"
    weights: Digest
    verifier: Name
    verifier_weights: Digest
    corpus: Digest
    corpus_recipe: CorpusRecipe
    training: TrainingRecipe
    progress: tuple[Progress, ...] = Field(min_length=1)
    cautions: tuple[Caution, ...] = Field((), description="Of the last checkpoint; none in older manifests")
    sure: FiniteFloat | None = Field(None, description="How sure it should be told to be, by `cautions`")
    device: Name = Field("cpu", description="What the last steps were trained on")
    packages: tuple[Package, ...]
    command: str
    recipe: Recipe | None = Field(None, description="With that of the drafter it goes on from")
    before: "DrafterManifest | None" = Field(None, description="Of the drafter it goes on from")
