"""Trains k3-tiny, the verifier that ships with K3: seeded, resumable, from sequences that K3's workloads generate.

Short sequences first, where the copying of codes is learnt fast; then longer ones, up to the length of the runs.
"""

import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from harness.base.clock import now
from harness.base.errors import UsageError
from harness.models.model_text import ModelText
from harness.training.tiny.corpus import make_batch
from harness.training.tiny.heldout import HeldOutScores, held_out
from harness.training.tiny.model import TinyConfig, TinyModel


@dataclass(frozen=True)
class Stage:
    """Steps of one sequence length; `size` sequences a step."""

    length: int
    size: int
    share: float


STAGES = (Stage(128, 32, 0.3), Stage(256, 16, 0.2), Stage(512, 8, 0.25), Stage(832, 5, 0.25))
"""About 4,000 tokens a step throughout. Lengths are multiples of the window."""

BETAS, DECAY, CLIP, WARMUP = (0.9, 0.98), 0.05, 1.0, 60
SAVE_EVERY, HELD_OUT_EVERY = 20, 100
FLOOR = 0.05
"""Learning rate at the end as a share of the peak."""


@dataclass(frozen=True)
class Settings:
    """What decides the weights, besides the machine's rounding.

    `bf16`: matrix products in bfloat16, weights in float32; quicker where the processor has such products.
    """

    seed: int = 0
    steps: int = 700
    rate: float = 3e-3
    bf16: bool = False

    def stage(self, step: int) -> Stage:
        """The stage that `step` belongs to."""
        done = 0.0
        for stage in STAGES:
            done += stage.share
            if step < round(done * self.steps):
                return stage
        return STAGES[-1]

    def rate_at(self, step: int) -> float:
        """Linear warm-up, then a cosine down to the floor."""
        if step < WARMUP:
            return self.rate * (step + 1) / WARMUP
        part = (step - WARMUP) / max(1, self.steps - WARMUP)
        return self.rate * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * part)))


@dataclass
class Trainer:
    """A model in training and how far it is; `corpus` is the running digest of all batches so far."""

    text: ModelText
    config: TinyConfig
    settings: Settings
    model: TinyModel
    optimizer: torch.optim.Optimizer
    step: int = 0
    seconds: float = 0.0
    corpus: str = ""

    @classmethod
    def fresh(cls, text: ModelText, config: TinyConfig, settings: Settings) -> "Trainer":
        """Weights drawn from the seed, nothing trained."""
        torch.manual_seed(settings.seed)
        model = TinyModel(config)
        matrices = [weight for weight in model.parameters() if weight.dim() == 2]
        norms = [weight for weight in model.parameters() if weight.dim() == 1]
        groups = [{"params": matrices, "weight_decay": DECAY}, {"params": norms, "weight_decay": 0.0}]
        return cls(text, config, settings, model, torch.optim.AdamW(groups, lr=settings.rate, betas=BETAS))

    def train(self, checkpoint: Path) -> None:
        """Go on to the last step; log, save a checkpoint and look at held-out prompts every so often."""
        while self.step < self.settings.steps:
            start = now()
            loss = self._one_step()
            self.step += 1
            self.seconds += now() - start
            if self.step % 10 == 0:
                stage = self.settings.stage(self.step - 1)
                say(f"step {self.step} length {stage.length} loss {loss:.4f} {self.seconds / self.step:.2f} s/step")
            if self.step % SAVE_EVERY == 0 or self.step == self.settings.steps:
                self.save(checkpoint)
            if self.step % HELD_OUT_EVERY == 0:
                say(f"step {self.step} {held_out(self.model, self.text, samples=10)}")

    def _one_step(self) -> float:
        stage = self.settings.stage(self.step)
        batch = make_batch(self.text, self.settings.seed, self.step, stage.size, stage.length)
        self.corpus = batch.digest(self.corpus)
        tokens = torch.from_numpy(batch.tokens)
        weights = torch.from_numpy(batch.weights)[:, 1:]
        wanted = weights > 0
        with torch.autocast("cpu", torch.bfloat16, enabled=self.settings.bf16):
            logits = self.model.logits(self.model.hidden(tokens)[:, :-1][wanted])
        losses = functional.cross_entropy(logits.float(), tokens[:, 1:][wanted], reduction="none")
        loss = (losses * weights[wanted]).sum() / weights.sum()
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate_at(self.step)
        self.optimizer.step()
        return float(loss.detach())

    def save(self, path: Path) -> None:
        """Write the checkpoint, whole or not at all."""
        state = {
            "config": asdict(self.config),
            "settings": asdict(self.settings),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
            "corpus": self.corpus,
        }
        partial = path.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(path)

    def resume(self, path: Path) -> None:
        """Take up a checkpoint.

        Raises:
            UsageError: it was made with other settings.
        """
        state: dict[str, Any] = torch.load(path, weights_only=True)
        if (state["config"], state["settings"]) != (asdict(self.config), asdict(self.settings)):
            raise UsageError(f"{path}: a checkpoint of other settings; use the same ones, or another --work folder")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds, self.corpus = state["step"], state["seconds"], state["corpus"]

    def evaluate(self) -> HeldOutScores:
        """Figures on prompts that training never saw."""
        return held_out(self.model, self.text, samples=100)


def say(line: str) -> None:
    """Progress, on stderr."""
    print(line, file=sys.stderr, flush=True)
