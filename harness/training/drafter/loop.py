"""The loop that trains a drafter: seeded step by step, so that it can be left at any checkpoint and taken up again."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from harness.training.drafter.blocks import IGNORED, Blocks, blocks_of, draw_anchors
from harness.training.drafter.checkpoint import Checkpoint
from harness.training.drafter.heldout import evaluate
from harness.training.drafter.net import DrafterNet
from harness.training.drafter.recipe import Progress, TrainingRecipe
from harness.training.drafter.verifier import Continued

BETAS, WEIGHT_DECAY, CLIP = (0.9, 0.95), 0.01, 1.0
Told = Callable[[Progress], None]


@dataclass(frozen=True)
class Surroundings:
    """What a drafter is trained between: the verifier's `table` (vocabulary, hidden), the rows `head` of its head
    (draft vocabulary, hidden), `places` from its tokens to these rows, and how it norms and caps before its logits.

    All but `places`, which is on the CPU with the sequences, is on the device of the training.
    """

    table: Tensor
    head: Tensor
    places: Tensor
    softcap: float | None
    normed: Callable[[Tensor], Tensor]

    @property
    def device(self) -> torch.device:
        """What is trained on."""
        return self.table.device


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
                around = self.around
                held = evaluate(
                    self.net, self._held_out, around.table, around.head, around.places, self.recipe.block_size
                )
                seen = Progress(step=step + 1, loss=sum(losses) / len(losses), held_out=held)
                self.progress = (*self.progress, seen)
                self._checkpoint.save(self.net, self.optimiser, self.progress)
                losses = []
                told(seen)

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
            logits = self._capped(hidden[:, 1:].flatten(0, 1) @ self.around.head.T).float()
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
            taught = self._capped(self.around.normed(last).float() @ self.around.head.T)
        return functional.cross_entropy(logits, taught.softmax(-1), reduction="none")

    def _capped(self, logits: Tensor) -> Tensor:
        cap = self.around.softcap
        return logits if cap is None else torch.tanh(logits / cap) * cap
