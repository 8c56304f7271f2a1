"""What k3-tiny is trained on: K3's own generators with other seeds, and notes that hold many codes.

Two halves. Recall: haystacks as `workloads.niah` makes them (with the needle and without), and notes with several
facts and several questions, which teach the same copying at more positions a sequence; the loss is mostly on the
answers. Code: files as `workloads.code` makes them, except that at some point the names go on in the order of the
list, so that a greedy continuation is predictable and does not settle on one name; the loss is on everything.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.models.model_text import ModelText
from harness.training.tiny.tokenizer import BOS, EOS, SPECIAL
from workloads.base import SYNTHETIC
from workloads.code import NOUNS, TEMPLATES, group_of
from workloads.niah import GROUP, INSTRUCTION, PREFIXES, Niah, note

GENERATOR = "harness/training/tiny/corpus.py"
"""What a recipe says made the text of k3-tiny."""
GENERATOR_VERSION = 1
GROUPS = tuple(sorted([GROUP, f"{SYNTHETIC}/facts", *map(group_of, TEMPLATES)]))
"""Of everything that a batch may hold; notes with many facts are of a template of their own."""
TRAINING_SEEDS = 2**40
"""Haystacks of training take their seeds from here on up; a preset's seed is at most 2^31."""

READING, ANSWER = 0.05, 4.0
"""Weights of the loss on notes and questions, whose words are drawn at random, and on answers, which are few; code
weighs 1."""

NO_ANSWER = " not in the notes."
_KINDS = (
    "secret", "first", "second", "third", "last", "red", "blue", "green", "old", "new", "north", "south", "east",
    "west", "front", "back", "small", "large", "short", "long", "spare", "master", "public", "hidden",
)  # fmt: skip


@dataclass(frozen=True)
class WeightedText:
    """Token ids and, for each, the weight of the loss of predicting it."""

    tokens: tuple[int, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Batch:
    """Token ids (B, L) and loss weights (B, L), padded with weight 0."""

    tokens: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]

    def digest(self, before: str) -> str:
        """sha256 over the digest of all batches before and this one's tokens."""
        return hashlib.sha256(before.encode() + self.tokens.astype("<i4").tobytes()).hexdigest()


def make_batch(text: ModelText, seed: int, step: int, size: int, length: int) -> Batch:
    """The batch of a step: the same for the same arguments, whatever came before."""
    rng = random.Random(f"k3-tiny/{GENERATOR_VERSION}/{seed}/{step}")
    tokens = np.full((size, length), SPECIAL["<pad>"], dtype=np.int64)
    weights = np.zeros((size, length), dtype=np.float32)
    for row in range(size):
        document = code(text, rng, length) if row % 2 else recall(text, rng, length)
        kept = min(length, len(document.tokens))
        tokens[row, :kept] = document.tokens[:kept]
        weights[row, :kept] = document.weights[:kept]
    return Batch(tokens, weights)


def tokenizer_texts(seed: int, count: int = 400) -> Iterator[str]:
    """Texts of every kind, for the tokenizer."""
    rng = random.Random(f"k3-tiny/{GENERATOR_VERSION}/{seed}/tokenizer")
    for _ in range(count):
        yield source_file(rng, rng.randint(8, 30))
        lines = [f"Note {number}: {note(rng)}" for number in range(1, 30)]
        facts = [_fact(kind, _code(rng)) for kind in rng.sample(_KINDS, 8)]
        questions = [_question(kind) + NO_ANSWER for kind in rng.sample(_KINDS, 8)]
        yield "\n".join([INSTRUCTION, "", *lines, *facts, *questions])


def code(text: ModelText, rng: random.Random, length: int) -> WeightedText:
    """One source file of at least `length` tokens, loss on all."""
    tokens = text.encode(BOS + source_file(rng, 8 + length // 10))
    return WeightedText(tuple(tokens), (1.0,) * len(tokens))


def source_file(rng: random.Random, items: int) -> str:
    """A file whose first names are drawn without repeats, and whose others follow the last in the list's order."""
    drawn = rng.sample(NOUNS, rng.randint(1, 16))
    start = NOUNS.index(drawn[-1])
    ordered = [NOUNS[(start + ahead) % len(NOUNS)] for ahead in range(1, items)]
    return rng.choice(TEMPLATES)([*drawn, *ordered][:items], rng)


def recall(text: ModelText, rng: random.Random, length: int) -> WeightedText:
    """A haystack of K3's own, or notes with many facts, of about `length` tokens."""
    return haystack(text, rng, length) if rng.random() < 0.4 else notes(text, rng, length)


def haystack(text: ModelText, rng: random.Random, length: int) -> WeightedText:
    """A prompt of `workloads.niah` with its answer; one in four is its needle-free twin, whose answer says so."""
    lines = max(3, int(length / 15 * rng.uniform(0.5, 1.0)))
    while True:
        niah = Niah(lines, 1, TRAINING_SEEDS + rng.randrange(2**40), 0, 0, "completion")
        prompt = niah.prompts(text)[1 if rng.random() < 0.25 else 0]
        answer = f" {prompt.answer}." if prompt.prompt_set == "main" else NO_ANSWER
        after = text.encode(answer + EOS)
        if len(prompt.tokens) + len(after) <= length or lines <= 3:
            break
        lines = lines * 9 // 10
    return WeightedText((*prompt.tokens, *after), (READING,) * len(prompt.tokens) + (ANSWER,) * len(after))


def notes(text: ModelText, rng: random.Random, length: int) -> WeightedText:
    """Notes of which some state a code of some kind, then questions for kinds, some of them not stated."""
    kinds = rng.sample(_KINDS, min(len(_KINDS), rng.randint(1, max(2, length // 24))))
    known = {kind: _code(rng) for kind in kinds}
    asked = rng.sample(kinds, min(len(kinds), max(2, length // 64)))
    absent = [kind for kind in _KINDS if kind not in known]
    if absent and rng.random() < 0.3:
        asked.append(rng.choice(absent))
    rng.shuffle(asked)
    tail: list[tuple[str, float]] = []
    for kind in asked:
        tail += [("\n\n" + _question(kind), READING), (f" {known[kind]}." if kind in known else NO_ANSWER, ANSWER)]
    tail.append((EOS, ANSWER))
    end = [(text.encode(part), weight) for part, weight in tail]
    room = length - sum(len(tokens) for tokens, _ in end)
    tokens = text.encode(f"{BOS}{INSTRUCTION}\n\n{_notes(text, rng, known, room - 16)}\n")
    weights = [READING] * len(tokens)
    for part, weight in end:
        tokens += part
        weights += [weight] * len(part)
    return WeightedText(tuple(tokens), tuple(weights))


def _notes(text: ModelText, rng: random.Random, known: dict[str, str], room: int) -> str:
    """Numbered notes of about `room` tokens: all facts, and ordinary lines as far as they fit."""
    lines = [_fact(kind, value) for kind, value in known.items()]
    used = sum(len(text.encode(line)) + 5 for line in lines)
    while used < room:
        lines.append(note(rng))
        used += len(text.encode(lines[-1])) + 5
    rng.shuffle(lines)
    return "\n".join(f"Note {number}: {line}" for number, line in enumerate(lines, start=1))


def _fact(kind: str, value: str) -> str:
    return f"the {kind} code is {value}."


def _question(kind: str) -> str:
    return f"Question: What is the {kind} code in the notes?\nAnswer: The {kind} code is"


def _code(rng: random.Random) -> str:
    return f"{rng.choice(PREFIXES)}-{rng.randint(1000, 9999)}"
