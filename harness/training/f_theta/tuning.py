"""Fine-tunes the maps of a ridge on the verifier's logits: seeded step by step, so that a killed run goes on.

A map is its start plus the whitener times a shift, and Adam (Kingma and Ba 2015) moves the shift: features are strongly
correlated, and steps along what they have in common would otherwise drown all others.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import mlx.core as mx
import mlx.optimizers as optimizers
import numpy as np
from mlx.utils import tree_flatten, tree_unflatten

from harness.base.errors import ModelError, OutputError
from harness.engines.mlx.bounded.f_theta import Projection
from harness.training.f_theta.corpus import FThetaTexts
from harness.training.f_theta.divergence import Divergence, Shifts
from harness.training.f_theta.export import save_arrays
from harness.training.f_theta.fit import Floats, Ridge
from reports.records.record import Digest, Record

TUNED_FROM = 2**23
"""Texts of the corpus from this one on are read in fine-tuning: later than those fitted to, before those held out."""
HELD_OUT_FROM = 2**24
"""Texts of the corpus from this one on are only measured on."""
BETAS = (0.9, 0.99)
WARM_UP, FLOOR = 0.1, 0.05
"""Share of the steps in which the rate rises, and the share of the peak to which it then falls."""


class TuningRecipe(Record):
    """How maps are fine-tuned: `sequences` texts a step, `interval` steps between checkpoints, `rate` at the peak."""

    steps: int
    rate: float
    sequences: int
    interval: int

    def rate_at(self, step: int) -> float:
        """Linearly up, then linearly down."""
        rising = max(1, round(WARM_UP * self.steps))
        if step < rising:
            return self.rate * (step + 1) / rising
        return self.rate * max(FLOOR, (self.steps - step) / max(1, self.steps - rising))


class TuningKey(Record):
    """What a checkpoint belongs to: the ridge's weights, and everything that decides the texts and the steps."""

    ridge_weights: Digest
    recipe: TuningRecipe
    seed: int
    lines: int
    texts: Digest | None


@dataclass(frozen=True)
class Whitened:
    """The maps as functions of shifts from `start`; `whitener` is (features, features)."""

    start: Projection
    whitener: mx.array

    def none(self) -> Shifts:
        """Shifts that move nothing."""
        shifts = {}
        for layer, weight in self.start.weights.items():
            shifts[f"weight-{layer}"] = mx.zeros_like(weight)
            shifts[f"bias-{layer}"] = mx.zeros_like(self.start.biases[layer])
        return shifts

    def maps(self, shifts: Shifts) -> Projection:
        """The maps moved by `shifts`."""
        start = self.start
        weights = {layer: held + self.whitener @ shifts[f"weight-{layer}"] for layer, held in start.weights.items()}
        biases = {layer: held + shifts[f"bias-{layer}"] for layer, held in start.biases.items()}
        return replace(start, weights=weights, biases=biases)


class Tuner:
    """Maps in fine-tuning and how far they are."""

    def __init__(
        self, divergence: Divergence, whitener: Floats, corpus: FThetaTexts, key: TuningKey, held_out: int, work: Path
    ) -> None:
        """Take up the checkpoint in `work`, or begin at the maps of `divergence`.

        Raises:
            ModelError: a checkpoint that is damaged or another run's.
        """
        self._divergence, self._corpus, self._key, self._held_out = divergence, corpus, key, held_out
        self._whitened = Whitened(divergence.projection, mx.array(whitener))
        self._path = work / "fine-tuning.safetensors"
        self._shifts = self._whitened.none()
        self._optimizer = optimizers.Adam(learning_rate=key.recipe.rate, betas=list(BETAS), bias_correction=True)
        self._optimizer.init(self._shifts)
        self._step = 0
        if self._path.exists():
            self._restore()

    @property
    def maps(self) -> Projection:
        """As they are now."""
        return self._whitened.maps(self._shifts)

    def run(self, told: Callable[[str], None]) -> None:
        """Train to the last step; save and tell every so often.

        Raises:
            OutputError: the checkpoint cannot be written.
        """
        recipe, losses = self._key.recipe, list[float]()
        while self._step < recipe.steps:
            losses.append(self._one_step())
            self._step += 1
            if self._step % recipe.interval == 0 or self._step == recipe.steps:
                self._save()
                told(
                    f"step {self._step} of {recipe.steps}: divergence {sum(losses) / len(losses):.3g} in training, "
                    f"{self.held_out(self.maps):.3g} held out"
                )
                losses = []

    def held_out(self, projection: Projection) -> float:
        """The mean divergence of the held-out texts."""
        texts = [self._corpus.text(HELD_OUT_FROM + index).tokens for index in range(self._held_out)]
        return sum(self._divergence.of(text, projection) for text in texts) / len(texts)

    def _one_step(self) -> float:
        """One step; its texts depend on its number alone. Returns their mean divergence."""
        recipe, total = self._key.recipe, 0.0
        gradients = self._whitened.none()
        for index in range(recipe.sequences):
            text = self._corpus.text(TUNED_FROM + self._step * recipe.sequences + index).tokens
            value, gradient = self._divergence.gradient(text, self._shifts, self._whitened.maps)
            gradients = {name: held + gradient[name] / recipe.sequences for name, held in gradients.items()}
            mx.eval(gradients)
            total += value
        self._optimizer.learning_rate = recipe.rate_at(self._step)
        self._shifts = self._optimizer.apply_gradients(gradients, self._shifts)
        mx.eval(self._shifts, self._optimizer.state)
        return total / recipe.sequences

    def _save(self) -> None:
        stated = {"key": self._key.model_dump_json(), "step": str(self._step)}
        try:
            save_arrays(self._path, self._arrays(), stated)
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written ({error.strerror}); use another --work") from error

    def _arrays(self) -> dict[str, mx.array]:
        """Everything the next step depends on: the shifts, and the optimiser's counts and moments."""
        return {**self._shifts, **dict(tree_flatten(self._optimizer.state))}

    def _restore(self) -> None:
        remedy = "delete it to begin again"
        shapes = {name: array.shape for name, array in self._arrays().items()}
        try:
            loaded = mx.load(str(self._path), return_metadata=True)
            assert isinstance(loaded, tuple)
            arrays, stated = loaded
            key, step = stated["key"], int(stated["step"])
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise ModelError(f"{self._path}: no whole checkpoint; {remedy}") from error
        if key != self._key.model_dump_json() or {name: array.shape for name, array in arrays.items()} != shapes:
            raise ModelError(f"{self._path}: belongs to another run; use another --work, or {remedy}")
        mx.eval(arrays)
        self._step, self._shifts = step, {name: arrays.pop(name) for name in self._shifts}
        self._optimizer.state = tree_unflatten(list(arrays.items()))


def as_ridge(projection: Projection) -> Ridge:
    """Maps of all layers in order as one."""
    layers = projection.manifest.restorable
    return Ridge(
        mean=np.array(projection.mean),
        scale=np.array(projection.scale),
        weight=np.concatenate([np.array(projection.weights[layer]) for layer in layers], axis=1),
        bias=np.concatenate([np.array(projection.biases[layer]) for layer in layers]),
    )
