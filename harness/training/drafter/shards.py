"""A verifier's greedy continuations and hidden states on disk, a shard a batch; what is there is not made again."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from harness.base.errors import ModelError, UsageError
from harness.training.corpus import Corpus, CorpusRecipe
from harness.training.drafter.verifier import Continued, TorchVerifier
from reports.atomic_file import write_atomically

RECIPE = "corpus.json"
HELD_OUT = "held-out.safetensors"
Told = Callable[[str], None]


class Shards:
    """The shards of one recipe in one folder."""

    def __init__(self, folder: Path, recipe: CorpusRecipe) -> None:
        """Open `folder`, which is made if it is not there.

        Raises:
            UsageError: it holds the shards of another recipe.
        """
        self.folder, self.recipe = folder, recipe
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / RECIPE
        if not path.exists():
            write_atomically(recipe.model_dump_json(indent=2).encode(), path)
        try:
            stored = CorpusRecipe.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise UsageError(f"{path}: not the recipe of a corpus; use another --work folder") from error
        if stored != recipe:
            differing = [name for name in CorpusRecipe.model_fields if getattr(stored, name) != getattr(recipe, name)]
            raise UsageError(f"{path}: made with another {', '.join(differing)}; use another --work folder")

    def make(self, count: int, corpus: Corpus, verifier: Callable[[], TorchVerifier], told: Told) -> None:
        """Make the held-out shard and the first `count` others, those that are missing; `verifier` is called once,
        and only if one is."""
        wanted = [(HELD_OUT, corpus.held_out), *((name_of(i), lambda i=i: corpus.shard(i)) for i in range(count))]
        missing = [(name, prompts) for name, prompts in wanted if not (self.folder / name).exists()]
        if not missing:
            return
        loaded = verifier()
        for number, (name, prompts) in enumerate(missing, start=1):
            told(f"{name}: {number} of {len(missing)}")
            tokens = [list(text.tokens) for text in prompts()]
            save_shard(self.folder / name, loaded.continued(tokens, self.recipe.new_tokens, self.recipe.layers))

    def held_out(self) -> list[Continued]:
        """The sequences no step is made on."""
        return load_shard(self.folder / HELD_OUT)

    def shard(self, index: int) -> list[Continued]:
        """The sequences of shard `index`."""
        return load_shard(self.folder / name_of(index))

    def digest(self, count: int) -> str:
        """Digest of the recipe and of the token ids of the first `count` shards."""
        total = hashlib.sha256(self.recipe.model_dump_json().encode())
        for index in range(count):
            for sequence in self.shard(index):
                total.update(sequence.tokens.numpy().tobytes())
        return f"sha256:{total.hexdigest()}"


def name_of(index: int) -> str:
    """The file of shard `index`."""
    return f"shard-{index:05}.safetensors"


def save_shard(path: Path, sequences: list[Continued]) -> None:
    """Write the sequences end to end, whole or not at all."""
    partial = path.with_suffix(".partial")
    save_file(
        {
            "tokens": torch.cat([sequence.tokens for sequence in sequences]).to(torch.int64),
            "choices": torch.cat([sequence.choices for sequence in sequences]).to(torch.int64),
            "features": torch.cat([sequence.features for sequence in sequences]),
            "lengths": torch.tensor([len(sequence.tokens) for sequence in sequences]),
            "prompts": torch.tensor([sequence.prompt for sequence in sequences]),
        },
        partial,
    )
    os.replace(partial, path)


def load_shard(path: Path) -> list[Continued]:
    """The sequences of a shard; their features stay in the file until they are used.

    Raises:
        ModelError: no whole shard.
    """
    try:
        held = load_file(path)
        lengths, prompts = held["lengths"].tolist(), held["prompts"].tolist()
        tokens = held["tokens"].split(lengths)
        shorter = [length - 1 for length in lengths]
        choices, features = held["choices"].split(shorter), held["features"].split(shorter)
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise ModelError(f"{path}: no whole shard of a corpus; delete it, and it is made again") from error
    return [Continued(*parts) for parts in zip(tokens, prompts, choices, features, strict=True)]
