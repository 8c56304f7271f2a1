"""What a verifier is asked to continue: files of K3's own code workload and needle notes, or text files of the user's.

A corpus is an endless row of shards; shard `i` depends on the recipe and `i` alone, so a longer corpus begins with
the shorter one. The prompts of a shard are of one kind and one size, so that little of a batch is padding.
"""

import random
from pathlib import Path

from pydantic import Field

from harness.base.errors import UsageError
from reports.records.record import Digest, Name, Record, digest_of
from workloads.base import Tokenizer
from workloads.code import TEMPLATES, Code
from workloads.niah import Niah

SIZES = (4, 9, 6, 12, 3, 10)
"""Mean items of a code shard, in turns."""
NOTE_LINES = (14, 20, 26)
"""Mean lines of a shard of notes, in turns."""
CUTS = (64, 128, 256)
"""Tokens of a piece of text given, in turns."""
TEXT_SUFFIXES = (".c", ".go", ".java", ".js", ".json", ".md", ".py", ".rs", ".rst", ".sh", ".sql", ".ts", ".txt")


class CorpusRecipe(Record):
    """Everything that decides the tokens and hidden states a drafter is trained on, besides how many."""

    verifier: Digest
    seed: int = Field(ge=0, le=2**31)
    texts: Digest | None = Field(description="Digest of the user's text files; none for the corpus that ships")
    new_tokens: int = Field(ge=8, le=4096)
    batch: int = Field(ge=1, le=256, description="Sequences a shard")
    layers: tuple[int, ...] = Field(min_length=1)
    dtype: Name
    held_out_seed: int = Field(ge=0, le=2**31, description="Of the code workload; no shard draws from it")
    held_out_samples: int = Field(ge=1, le=256)
    held_out_items: int = Field(ge=2, le=56)


class Corpus:
    """The prompts of a recipe. `texts` are the user's own, each a piece to cut from."""

    def __init__(self, recipe: CorpusRecipe, tokenizer: Tokenizer, texts: tuple[str, ...] = ()) -> None:
        """Raises: UsageError: texts too short to cut a prompt from."""
        self._recipe, self._tokenizer = recipe, tokenizer
        self._texts = [tokenizer.encode(tokenizer.bos + text) for text in texts]
        if texts and max(map(len, self._texts)) <= min(CUTS):
            raise UsageError(f"--corpus: no text in it is longer than {min(CUTS)} tokens; give longer ones")

    def held_out(self) -> list[list[int]]:
        """Prompts of the code workload that no shard contains."""
        recipe = self._recipe
        held = Code(recipe.held_out_items, recipe.held_out_samples, recipe.held_out_seed).prompts(self._tokenizer)
        return [list(prompt.tokens) for prompt in held]

    def shard(self, index: int) -> list[list[int]]:
        """The prompts of shard `index`."""
        kinds = len(TEMPLATES) + 1
        turn = index // kinds
        if self._texts:
            return self._cut(index)
        # A seed of the workload that no preset and no held-out prompt uses.
        seed = 2**32 + self._recipe.seed * 2**20 + index
        batch = self._recipe.batch
        if index % kinds == len(TEMPLATES):
            notes = Niah(NOTE_LINES[turn % len(NOTE_LINES)], batch, seed, 4, 16, "completion").prompts(self._tokenizer)
            return [list(prompt.tokens) for prompt in notes if prompt.prompt_set == "main"]
        files = Code(SIZES[turn % len(SIZES)], batch * len(TEMPLATES), seed).prompts(self._tokenizer)
        return [list(prompt.tokens) for prompt in files[index % kinds :: len(TEMPLATES)]]

    def _cut(self, index: int) -> list[list[int]]:
        rng = random.Random(f"texts/{self._recipe.seed}/{index}")
        size = CUTS[index % len(CUTS)]
        long = [text for text in self._texts if len(text) > min(CUTS)]
        cuts = []
        for text in rng.choices(long, weights=[len(text) for text in long], k=self._recipe.batch):
            start = rng.randrange(max(1, len(text) - size))
            cuts.append(text[start : start + size])
        return cuts


def read_texts(folder: Path) -> tuple[str, ...]:
    """The text files under `folder`, sorted by path.

    Raises:
        UsageError: no such folder, or no text file in it.
    """
    if not folder.is_dir():
        raise UsageError(f"--corpus {folder}: no such folder")
    files = sorted(path for path in folder.rglob("*") if path.suffix in TEXT_SUFFIXES and path.is_file())
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    if not any(texts):
        raise UsageError(f"--corpus {folder}: no text in it; files ending in {' '.join(TEXT_SUFFIXES)} are read")
    return tuple(text for text in texts if text)


def texts_digest(texts: tuple[str, ...]) -> str:
    """Digest of all texts in order."""
    return digest_of("\0".join(texts).encode())
