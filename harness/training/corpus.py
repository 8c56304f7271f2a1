"""What a verifier is asked to continue: files of K3's own code workload and needle notes, or text files of the user's.

A corpus is an endless row of shards; shard `i` depends on the recipe and `i` alone, so a longer corpus begins with
the shorter one. The prompts of a shard are of one kind and one size, so that little of a batch is padding.
"""

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from harness.base.errors import UsageError
from reports.records.constants import OWN
from reports.records.recipe import Recipe
from reports.records.record import Digest, Name, Record, digest_of
from workloads.base import Prompt, Tokenizer
from workloads.code import TEMPLATES, Code
from workloads.documents import Document, documents
from workloads.niah import Niah

GENERATOR = "harness/training/corpus.py"
"""What a recipe says made the text of a drafter."""

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
    texts: Digest | None = Field(description="Digest of the texts that pieces are cut from; none for templates alone")
    stdlib: bool = Field(
        False, description="Templates and documents of the standard library, a shard each in turn; others are held out"
    )
    new_tokens: int = Field(ge=8, le=4096)
    batch: int = Field(ge=1, le=256, description="Sequences a shard")
    layers: tuple[int, ...] = Field(min_length=1)
    dtype: Name
    held_out_seed: int = Field(ge=0, le=2**31, description="Of the code workload; no shard draws from it")
    held_out_samples: int = Field(ge=1, le=256)
    held_out_items: int = Field(ge=2, le=56)


@dataclass(frozen=True)
class TrainingText:
    """Token ids that something is trained on, and kind/name of the template or document they are of."""

    tokens: tuple[int, ...]
    group: str


class Corpus:
    """The prompts of a recipe. `texts` are the user's own or documents of the standard library, to cut pieces from."""

    def __init__(self, recipe: CorpusRecipe, tokenizer: Tokenizer, texts: tuple[Document, ...] = ()) -> None:
        """Raises: UsageError: texts too short to cut a prompt from."""
        self._recipe, self._tokenizer = recipe, tokenizer
        self._texts = tokenised(texts, tokenizer)
        if texts and max(len(text.tokens) for text in self._texts) <= min(CUTS):
            raise UsageError(f"--corpus: no text in it is longer than {min(CUTS)} tokens; give longer ones")

    def held_out(self) -> list[TrainingText]:
        """Prompts that no shard contains: of the code workload, or of documents that are held out of training."""
        recipe = self._recipe
        if recipe.stdlib:
            texts = tokenised(documents("held_out"), self._tokenizer)
            return _cut(texts, CUTS[1], recipe.held_out_samples, random.Random(f"held out/{recipe.held_out_seed}"))
        held = Code(recipe.held_out_items, recipe.held_out_samples, recipe.held_out_seed).prompts(self._tokenizer)
        return [_as_text(prompt) for prompt in held]

    def recipe(self, shards: int) -> Recipe:
        """What is written down of the first `shards` shards."""
        found = (text for index in range(shards) for text in self.shard(index))
        return recipe_from(GENERATOR, self._recipe.seed, self._recipe.texts, found)

    def shard(self, index: int) -> list[TrainingText]:
        """The prompts of shard `index`."""
        kinds = len(TEMPLATES) + 1
        turn = index // kinds
        if self._texts and (index % 2 or not self._recipe.stdlib):
            size, rng = CUTS[index % len(CUTS)], random.Random(f"texts/{self._recipe.seed}/{index}")
            return _cut(self._texts, size, self._recipe.batch, rng)
        # A seed of the workload that no preset and no held-out prompt uses.
        seed = 2**32 + self._recipe.seed * 2**20 + index
        batch = self._recipe.batch
        if index % kinds == len(TEMPLATES):
            notes = Niah(NOTE_LINES[turn % len(NOTE_LINES)], batch, seed, 4, 16, "completion").prompts(self._tokenizer)
            return [_as_text(prompt) for prompt in notes if prompt.prompt_set == "main"]
        files = Code(SIZES[turn % len(SIZES)], batch * len(TEMPLATES), seed).prompts(self._tokenizer)
        return [_as_text(prompt) for prompt in files[index % kinds :: len(TEMPLATES)]]


def recipe_from(generator: str, seed: int, texts: str | None, given: Iterable[TrainingText]) -> Recipe:
    """What is written down of one stage of training: the groups of all that was `given`, and its digest in order."""
    digest, groups = hashlib.sha256(), set[str]()
    for text in given:
        digest.update((",".join(map(str, text.tokens)) + "\n").encode())
        groups.add(text.group)
    return Recipe(
        generator=generator,
        groups=tuple(sorted(groups)),
        seeds=(seed,),
        prompts=(f"sha256:{digest.hexdigest()}",),
        texts=() if texts is None else (texts,),
    )


def _cut(texts: tuple[TrainingText, ...], size: int, count: int, rng: random.Random) -> list[TrainingText]:
    """`count` pieces of `size` tokens, drawn from the texts by their length."""
    long = [text for text in texts if len(text.tokens) > min(CUTS)]
    cuts = []
    for text in rng.choices(long, weights=[len(text.tokens) for text in long], k=count):
        start = rng.randrange(max(1, len(text.tokens) - size))
        cuts.append(TrainingText(text.tokens[start : start + size], text.group))
    return cuts


def tokenised(texts: Iterable[Document], tokenizer: Tokenizer) -> tuple[TrainingText, ...]:
    """Documents as token ids, each begun as a prompt is."""
    return tuple(TrainingText(tuple(tokenizer.encode(tokenizer.bos + text.text)), text.name) for text in texts)


def _as_text(prompt: Prompt) -> TrainingText:
    assert prompt.group is not None
    return TrainingText(prompt.tokens, prompt.group)


def read_texts(folder: Path) -> tuple[Document, ...]:
    """The text files under `folder`, sorted by path; each is named after its path in the folder.

    Raises:
        UsageError: no such folder, or no text file in it.
    """
    if not folder.is_dir():
        raise UsageError(f"--corpus {folder}: no such folder")
    files = sorted(path for path in folder.rglob("*") if path.suffix in TEXT_SUFFIXES and path.is_file())
    texts = [
        Document(f"{OWN}/{path.relative_to(folder).as_posix()}", path.read_text(encoding="utf-8", errors="replace"))
        for path in files
    ]
    if not any(document.text for document in texts):
        raise UsageError(f"--corpus {folder}: no text in it; files ending in {' '.join(TEXT_SUFFIXES)} are read")
    return tuple(document for document in texts if document.text)


def texts_digest(texts: tuple[Document, ...]) -> str:
    """Digest of all texts in order."""
    return digest_of("\0".join(document.text for document in texts).encode())
