"""Writes k3-tiny as a model folder: config, weights in float32, tokenizer, and a manifest of how it was made."""

import json
import shutil
from pathlib import Path

from safetensors.torch import save_file

from harness.models.folder.digest import compute_digest
from harness.training.tiny.corpus import GENERATOR, GENERATOR_VERSION, GROUPS
from harness.training.tiny.heldout import HeldOutScores
from harness.training.tiny.tokenizer import SPECIAL
from harness.training.tiny.train import STAGES, Trainer
from reports.records.recipe import Recipe
from reports.records.record import Digest, Record

TRAINING_DATA = "made by harness/training/tiny/corpus.py from the seed; held-out prompts and presets use other seeds"
WEIGHTS = "model.safetensors"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


class TinyManifest(Record):
    """How the weights beside it were made."""

    name: str
    command: str
    seed: int
    steps: int
    peak_rate: float
    stages: tuple[tuple[int, int, float], ...]
    parameters: int
    training_seconds: float
    corpus_generator: int
    corpus: Digest
    training_data: str
    weights: Digest
    held_out: HeldOutScores
    recipe: Recipe


def export(trainer: Trainer, tokenizer: Path, folder: Path, command: str) -> TinyManifest:
    """Write the folder; the weights of a tied head are stored once."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().contiguous() for name, value in trainer.model.state_dict().items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    ends = {"bos_token_id": SPECIAL["<bos>"], "eos_token_id": SPECIAL["<eos>"], "pad_token_id": SPECIAL["<pad>"]}
    _write_json(folder / "config.json", {**trainer.config.settings(), **ends})
    for name in TOKENIZER_FILES:
        shutil.copyfile(tokenizer / name, folder / name)
    manifest = TinyManifest(
        name="k3-tiny",
        command=command,
        seed=trainer.settings.seed,
        steps=trainer.step,
        peak_rate=trainer.settings.rate,
        stages=tuple((stage.length, stage.size, stage.share) for stage in STAGES),
        parameters=sum(value.numel() for value in weights.values()),
        training_seconds=round(trainer.seconds, 1),
        corpus_generator=GENERATOR_VERSION,
        corpus=f"sha256:{trainer.corpus}",
        training_data=TRAINING_DATA,
        weights=compute_digest([folder / WEIGHTS]),
        held_out=trainer.evaluate(),
        recipe=Recipe(
            generator=GENERATOR, groups=GROUPS, seeds=(trainer.settings.seed,), prompts=(f"sha256:{trainer.corpus}",)
        ),
    )
    _write_json(folder / "manifest.json", manifest.model_dump(mode="json"))
    return manifest


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
