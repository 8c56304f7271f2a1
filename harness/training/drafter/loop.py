"""The loop that trains a drafter: seeded step by step, so that it can be left at any checkpoint and taken up again."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from harness.training.drafter.blocks import IGNORED, Blocks, blocks_of, draw_anchors
from harness.training.drafter.checkpoint import Checkpoint
from harness.training.drafter.held_out.walk import Foreseen, foresee, walk
from harness.training.drafter.net import DrafterNet
from harness.training.drafter.recipe import Progress, TrainingRecipe
from harness.training.drafter.surroundings import Surroundings
from harness.training.drafter.verifier import Continued

BETAS, WEIGHT_DECAY, CLIP = (0.9, 0.95), 0.01, 1.0
Told = Callable[[Progress], None]


class Loop:
    """A drafter, its optimiser and how far they are."""

    def __init__(
        self,
        net: DrafterNet,
        recipe: TrainingRecipe,
        around: Surroundings,
        training: Sequence[Continued],
        held_out: Sequence[Continued],
        checkpoint: Checkpoint,
    ) -> None:
        """Take up what `checkpoint` holds, or begin.

        Raises:
            ModelError, UsageError: as `Checkpoint.restore`.
        """
        self.net, self.recipe, self.around = net, recipe, around
        self._training, self._held_out, self._checkpoint = training, held_out, checkpoint
        self.optimiser = torch.optim.AdamW(
            net.parameters(), lr=recipe.rate, betas=BETAS, weight_decay=WEIGHT_DECAY, fused=True
        )
        self.progress = checkpoint.restore(net, self.optimiser)

    def run(self, told: Told) -> None:
        """Train to the last step; what a checkpoint saw is written with it and then told."""
        losses: list[float] = []
        done = self.progress[-1].step if self.progress else 0
        for step in range(done, self.recipe.steps):
            losses.append(self.step(step))
            if (step + 1) % self.recipe.interval == 0 or step + 1 == self.recipe.steps:
                held_out = walk(self.foreseen(), None).held_out
                seen = Progress(step=step + 1, loss=sum(losses) / len(losses), held_out=held_out)
                self.progress = (*self.progress, seen)
                self._checkpoint.save(self.net, self.optimiser, self.progress)
                losses = []
                told(seen)

    def foreseen(self) -> list[Foreseen]:
        """What it would propose at every place of the sequences it is only measured on."""
        return [foresee(self.net, sequence, self.around, self.recipe.block_size) for sequence in self._held_out]

    def step(self, step: int) -> float:
        """One step; its batch depends on the seed and its number alone. Returns the loss."""
        rng = np.random.default_rng([self.recipe.seed, step])
        picked = rng.choice(len(self._training), self.recipe.sequences, replace=False)
        chosen = [(self._training[i], draw_anchors(self._training[i], self.recipe.anchors, rng)) for i in picked]
        size, mask = self.recipe.block_size, self.net.config.mask_token_id
        made = blocks_of(chosen, size, mask, self.around.places)
        for group in self.optimiser.param_groups:
            group["lr"] = self.recipe.rate_at(step)
        self.optimiser.zero_grad()
        loss = self.loss(made.to(self.around.device))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), CLIP)
        self.optimiser.step()
        return float(loss.detach())

    def loss(self, made: Blocks) -> Tensor:
        """Of blocks on the device: cross-entropy with the verifier's choices, and with its logits for the share asked;
        drafts far from the anchor count less."""
        recipe, device = self.recipe, self.around.device
        narrow = recipe.precision == "bfloat16"
        with torch.autocast(device.type, torch.bfloat16) if narrow else nullcontext():
            hidden = self.net(made.sequences, self.around.table[made.tokens].float())
            logits = self.around.logits(hidden[:, 1:].flatten(0, 1)).float()
        labels = made.labels.flatten()
        distances = torch.arange(recipe.block_size - 1, device=device)
        weights = torch.exp(-distances / recipe.horizon).repeat(len(made.labels))
        weights = weights * (labels != IGNORED)
        losses = functional.cross_entropy(logits, labels.clamp(min=0), reduction="none")
        if recipe.distil:
            losses = (1 - recipe.distil) * losses + recipe.distil * self._distilled(logits, made)
        return (losses * weights).sum() / weights.sum().clamp(min=1)

    def _distilled(self, logits: Tensor, made: Blocks) -> Tensor:
        """Cross-entropy with the verifier's own distribution over the draft vocabulary, from its last layer."""
        last = made.features.flatten(0, 1)[:, -self.net.config.hidden_size :]
        with torch.no_grad():
            taught = self.around.logits(self.around.normed(last).float())
        return functional.cross_entropy(logits, taught.softmax(-1), reduction="none")
