"""What a verifier is asked to continue: several kinds of text, each with whole templates or documents held out.

A corpus is an endless row of shards; shard `i` depends on the recipe and `i` alone, so a longer corpus begins with
the shorter one. The prompts of a shard are of one kind and one size, so that little of a batch is padding. Which
template or document is held out is decided by its name (`workloads.documents.is_held_out`), never by a seed.
"""

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from harness.base.errors import UsageError
from reports.records.constants import OWN
from reports.records.recipe import Recipe
from reports.records.record import Digest, Name, Record, digest_of
from workloads.base import Prompt, Tokenizer
from workloads.code import TEMPLATES, Code, group_of
from workloads.documents import Document, Part, documents, is_held_out
from workloads.niah import Niah
from workloads.prose import paragraphs

GENERATOR = "harness/training/corpus.py"
"""What a recipe says made the text of a drafter."""

SIZES = (4, 9, 6, 12, 3, 10)
"""Mean items of a code shard, in turns."""
NOTE_LINES = (14, 20, 26)
"""Mean lines of a shard of notes, in turns."""
CUTS = (64, 128, 256)
"""Tokens of a piece of text given, in turns."""
TEXT_SUFFIXES = (".c", ".go", ".java", ".js", ".json", ".md", ".py", ".rs", ".rst", ".sh", ".sql", ".ts", ".txt")


KindName = Literal["templates", "code", "prose", "own"]
"""K3's templates and needle notes; modules of the standard library; their docstrings; files of the user's."""
KINDS: tuple[KindName, ...] = get_args(KindName)


class TextKind(Record):
    """One kind of text of a corpus: the seed of its draws, and its shards in every turn of all kinds."""

    name: KindName
    seed: int = Field(ge=0, le=2**31)
    share: int = Field(ge=1, le=100)


class CorpusRecipe(Record):
    """Everything that decides the tokens and hidden states a drafter is trained on, besides how many."""

    verifier: Digest
    seed: int = Field(ge=0, le=2**31)
    texts: Digest | None = Field(description="Digest of all texts that pieces are cut from; none for templates alone")
    kinds: tuple[TextKind, ...] = Field(
        (), description="In turns; none in manifests that are older than kinds, whose text is of every template"
    )
    new_tokens: int = Field(ge=8, le=4096)
    batch: int = Field(ge=1, le=256, description="Sequences a shard")
    layers: tuple[int, ...] = Field(min_length=1)
    dtype: Name
    held_out_seed: int = Field(ge=0, le=2**31, description="Of the prompts that are only measured on")
    held_out_samples: int = Field(ge=1, le=256)
    held_out_items: int = Field(ge=2, le=56)


@dataclass(frozen=True)
class TrainingText:
    """Token ids that something is trained on, and kind/name of the template or document they are of."""

    tokens: tuple[int, ...]
    group: str


class Corpus:
    """The prompts of a recipe. `own` are the user's texts, for the kind of that name."""

    def __init__(self, recipe: CorpusRecipe, tokenizer: Tokenizer, own: tuple[Document, ...] = ()) -> None:
        """Raises: UsageError: texts too short to cut a prompt from."""
        self._recipe, self._tokenizer = recipe, tokenizer
        kinds = recipe.kinds or (TextKind(name="templates", seed=recipe.seed, share=1),)
        self._turns = tuple(kind for kind in kinds for _ in range(kind.share))
        self._templates = tuple(
            place for place, made in enumerate(TEMPLATES) if not (recipe.kinds and is_held_out(group_of(made)))
        )
        self._texts = {kind.name: tokenised(texts_of(kind.name, "training", own), tokenizer) for kind in recipe.kinds}
        longest = [max(len(text.tokens) for text in texts) for texts in self._texts.values() if texts]
        if any(tokens <= min(CUTS) for tokens in longest):
            raise UsageError(f"--corpus: no text in it is longer than {min(CUTS)} tokens; give longer ones")

    def held_out(self) -> list[TrainingText]:
        """Prompts of templates and documents that no shard contains, as many of each kind; for a user's own texts,
        all of which are trained on, of the templates."""
        recipe, found = self._recipe, dict[str, list[TrainingText]]()
        for kind in recipe.kinds:
            texts = tokenised(texts_of(kind.name, "held_out"), self._tokenizer)
            rng = random.Random(f"held out/{kind.name}/{recipe.held_out_seed}")
            if texts:
                found[kind.name] = _cut(texts, CUTS[1], recipe.held_out_samples, rng)
            else:
                count = recipe.held_out_samples * len(TEMPLATES)
                prompts = Code(recipe.held_out_items, count, recipe.held_out_seed).prompts(self._tokenizer)
                held = [_as_text(prompt) for prompt in prompts if is_held_out(str(prompt.group))]
                found["templates"] = held[: recipe.held_out_samples]
        return [text for texts in found.values() for text in texts]

    def recipe(self, shards: int) -> Recipe:
        """What is written down of the first `shards` shards."""
        found = (text for index in range(shards) for text in self.shard(index))
        return recipe_from(GENERATOR, self._recipe.seed, self._recipe.texts, found)

    def shard(self, index: int) -> list[TrainingText]:
        """The prompts of shard `index`."""
        kind = self._turns[index % len(self._turns)]
        # Which shard of its kind it is: whole turns before this one, then this turn's.
        number = index // len(self._turns) * kind.share + self._turns[: index % len(self._turns)].count(kind)
        if kind.name == "templates":
            return self._files(kind.seed, number)
        rng = random.Random(f"{kind.name}/{kind.seed}/{number}")
        return _cut(self._texts[kind.name], CUTS[number % len(CUTS)], self._recipe.batch, rng)

    def _files(self, base: int, number: int) -> list[TrainingText]:
        """Files of one template, or notes, in turn; templates that are held out make none of them."""
        turn, place = divmod(number, len(self._templates) + 1)
        batch = self._recipe.batch
        # A seed of the workload that no preset and no held-out prompt uses.
        seed = 2**32 + base * 2**20 + number
        if place == len(self._templates):
            notes = Niah(NOTE_LINES[turn % len(NOTE_LINES)], batch, seed, 4, 16, "completion").prompts(self._tokenizer)
            return [_as_text(prompt) for prompt in notes if prompt.prompt_set == "main"]
        files = Code(SIZES[turn % len(SIZES)], batch * len(TEMPLATES), seed).prompts(self._tokenizer)
        return [_as_text(prompt) for prompt in files[self._templates[place] :: len(TEMPLATES)]]


def texts_of(kind: KindName, part: Part, own: tuple[Document, ...] = ()) -> tuple[Document, ...]:
    """The documents that pieces of `kind` are cut from; none for templates."""
    if kind == "templates":
        return ()
    if kind == "own":
        return own
    if kind == "code":
        return documents(part)
    prose = (Document(found.name, "\n\n".join(paragraphs(found))) for found in documents(part))
    return tuple(document for document in prose if document.text)


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
