"""The parts every workload has: a tokenised prompt, the tokenizer it needs, and when a stream ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from reports.records.measurement import PromptSet
from reports.records.plan import PromptRecord, Texts, tokens_digest
from reports.scoring.answers import score

PromptStyle = Literal["chat", "completion"]
SYNTHETIC = "synthetic"
"""The kind of all groups that K3's own templates make."""


class Turn(NamedTuple):
    """Something that was said in a conversation: by `system`, `user` or `assistant`."""

    role: str
    content: str


class Tokenizer(Protocol):
    """What a workload needs of a tokenizer."""

    @property
    def has_chat_template(self) -> bool: ...

    def chat_text(self, turns: Sequence[Turn]) -> str:
        """The whole prompt text of a conversation, up to where the assistant's answer begins.

        Raises:
            ValueError: the model has no template for turns, or none for these.
        """
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, special tokens in it recognised, none added."""
        ...

    @property
    def bos(self) -> str:
        """The text of the token a completion prompt must begin with; empty if the model has none."""
        ...


@dataclass(frozen=True)
class Prompt:
    """One prompt, tokenised once and given to every arm that runs its set.

    `needle_first`, `needle_last` and `question_first` are token positions; none where they do not apply. `group` is
    kind/name of the template or document the prompt was made from, `question` of the form of its question where that
    is no part of the group. `also_asked` are further answers, all of them asked for; `not_asked` what needles tell that
    the question is not about.
    """

    sample: int
    prompt_set: PromptSet
    tokens: tuple[int, ...]
    answer: str | None = None
    needle_first: int | None = None
    needle_last: int | None = None
    question_first: int | None = None
    group: str | None = None
    question: str | None = None
    also_asked: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 over the token ids as decimal numbers joined by commas."""
        return tokens_digest(self.tokens)

    def scored(self, text: str) -> bool | None:
        """Whether `text` is a right answer; None of a prompt that has none."""
        return None if self.answer is None else score(text, self.answer, self.also_asked, self.not_asked)

    def record(self) -> PromptRecord:
        """The prompt as a report keeps it: everything but the tokens."""
        depth = self.needle_first / len(self.tokens) if self.needle_first is not None else None
        return PromptRecord(
            sample=self.sample,
            prompt_set=self.prompt_set,
            digest=self.digest,
            token_count=len(self.tokens),
            answer=self.answer,
            needle_depth=depth,
            needle_first=self.needle_first,
            needle_last=self.needle_last,
            question_first=self.question_first,
            group=self.group,
            question=self.question,
            also_asked=self.also_asked or None,
            not_asked=self.not_asked or None,
        )


class Workload(Protocol):
    """What is asked: a seeded generator of prompts, and the names a report knows it by."""

    @property
    def name(self) -> str: ...

    @property
    def form(self) -> str: ...

    @property
    def texts(self) -> Texts | None:
        """The texts that prompts are made from; none where templates make all of it."""
        ...

    @property
    def generator_version(self) -> int: ...

    @property
    def style(self) -> PromptStyle: ...

    @property
    def seed(self) -> int: ...

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """All prompts, in the order of their samples.

        Raises:
            ValueError: settings that no prompt can meet.
        """
        ...


@dataclass(frozen=True)
class StopPolicy:
    """When a stream ends besides its budget: at end of text, and at the end of the model's turn unless ignored."""

    ignore_turn_stop: bool = False


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many leading tokens two sequences share."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


def common_suffix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many trailing tokens two sequences share."""
    return common_prefix(first[::-1], second[::-1])


def token_span(tokens: Sequence[int], text: str, start: int, end: int, tokenizer: Tokenizer) -> tuple[int, int]:
    """First and last position of the `tokens` of `text` that hold any of the characters from `start` to before `end`.

    Tokens may merge across the ends, so the span is wide: everything that is not surely outside.
    """
    before = common_prefix(tokens, tokenizer.encode(text[:start]))
    after = common_suffix(tokens, tokenizer.encode(text[end:]))
    return before, len(tokens) - after - 1
