"""A drafter half trained, on disk: weights, the optimiser's moments and the progress in one file, replaced whole.

Which device it was trained on is not in it: it goes on wherever the net now is.
"""

import json
import os
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from harness.base.errors import ModelError, UsageError
from harness.training.drafter.net import DrafterNet
from harness.training.drafter.recipe import Progress, TrainingRecipe

MOMENTS = ("exp_avg", "exp_avg_sq")


class Checkpoint:
    """The file of one training run, identified by its recipe and the digest of its corpus."""

    def __init__(self, path: Path, recipe: TrainingRecipe, corpus: str) -> None:
        self._path, self._recipe, self._corpus = path, recipe, corpus

    def save(self, net: DrafterNet, optimiser: torch.optim.AdamW, progress: tuple[Progress, ...]) -> None:
        """Write everything that `restore` needs; a kill leaves the old file or the new one."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in net.named_parameters():
            tensors[f"net.{name}"] = parameter.detach().cpu()
            for moment in MOMENTS:
                tensors[f"{moment}.{name}"] = optimiser.state[parameter][moment].cpu()
        stated = {
            "recipe": self._recipe.model_dump_json(),
            "corpus": self._corpus,
            "progress": json.dumps([seen.model_dump() for seen in progress]),
        }
        partial = self._path.with_suffix(".partial")
        save_file(tensors, partial, stated)
        os.replace(partial, self._path)

    def restore(self, net: DrafterNet, optimiser: torch.optim.AdamW) -> tuple[Progress, ...]:
        """Fill `net` and `optimiser` from the file and return its progress; nothing if there is none.

        Raises:
            ModelError: no whole checkpoint of this drafter.
            UsageError: one of another recipe or corpus.
        """
        if not self._path.exists():
            return ()
        remedy = "delete it to begin again"
        try:
            with safe_open(self._path, "pt") as held:
                stated = held.metadata() or {}
                progress = tuple(
                    Progress.model_validate_json(json.dumps(seen)) for seen in json.loads(stated["progress"])
                )
                recipe = TrainingRecipe.model_validate_json(stated["recipe"])
                if (recipe, stated["corpus"]) != (self._recipe, self._corpus):
                    raise UsageError(
                        f"{self._path}: of another recipe or corpus; {remedy}, or use another --work folder"
                    )
                tensors = {name: held.get_tensor(name) for name in held.keys()}  # noqa: SIM118
            _fill(net, optimiser, tensors, progress[-1].step)
        except (OSError, SafetensorError, ValidationError, ValueError, KeyError, IndexError, RuntimeError) as error:
            raise ModelError(f"{self._path}: no whole checkpoint of this drafter; {remedy}") from error
        return progress


def _fill(net: DrafterNet, optimiser: torch.optim.AdamW, tensors: dict[str, Tensor], step: int) -> None:
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if tensors[f"net.{name}"].shape != parameter.shape:
                raise ValueError(name)
            parameter.copy_(tensors[f"net.{name}"])
            moments = {moment: tensors[f"{moment}.{name}"].to(parameter.device) for moment in MOMENTS}
            optimiser.state[parameter] = {"step": torch.tensor(float(step), device=parameter.device), **moments}
