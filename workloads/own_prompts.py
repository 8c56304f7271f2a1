"""Prompts of one's own: a JSON Lines file, one prompt a line, read within bounds and told by its digest.

    {"text": "def area(radius):", "answer": "math.pi", "group": "geometry"}
    {"messages": [{"role": "user", "content": "What is the capital of France?"}], "answer": "Paris"}

`text` is continued as it stands; `messages` go through the model's chat template. `answer` and `group` may be left out:
without an answer nothing is right or wrong, without a group every prompt is one of its own.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from reports.records.constants import OWN
from reports.records.plan import Texts
from reports.records.record import Digest, Record, digest_of
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import BYTE_ORDER_MARK, StrictJsonError, parse
from workloads.base import Prompt, PromptStyle, Tokenizer, Turn

GENERATOR_VERSION = 1
MAX_PROMPTS = 10_000
MAX_CHARACTERS = 200_000
MAX_TURNS = 200


def _something(text: str) -> str:
    if text and not text.strip():
        raise ValueError("holds nothing but white space")
    return text


Said = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS), AfterValidator(_something)]
Label = Annotated[
    str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$")
]


class OwnTurn(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: Said


class OwnPrompt(Record):
    """One line of the file: `text` or `messages`."""

    text: Said | None = None
    messages: tuple[OwnTurn, ...] | None = Field(None, min_length=1, max_length=MAX_TURNS)
    answer: Label | None = None
    group: Label | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.text is None) == (self.messages is None):
            raise ValueError("give text or messages, one of the two")
        if self.messages is not None and self.messages[-1].role != "user":
            raise ValueError("messages end with a turn of the user, which is answered")
        return self


@dataclass(frozen=True)
class OwnPrompts:
    """The first `samples` prompts of a file. `seed` decides nothing here; reports of all workloads tell it."""

    file: Path
    samples: int
    seed: int

    name = "code"
    form = OWN
    generator_version = GENERATOR_VERSION

    @property
    def style(self) -> PromptStyle:
        """Chat where the file holds messages."""
        return "completion" if self._lines[0][1].messages is None else "chat"

    @property
    def texts(self) -> Texts:
        """The file, by its name and digest."""
        return Texts(name=one_line(self.file.name, 200), documents=len(self._lines), digest=digest_of(self._data))

    @property
    def identity(self) -> Digest:
        """Digest of all prompts of the file, wherever it lies and however its lines are laid out.

        Raises:
            ValueError: it cannot be read, or a line of it is no prompt.
        """
        return digest_of("\n".join(line.model_dump_json() for _, line in self._lines).encode())

    def check(self) -> None:
        """Read the file.

        Raises:
            ValueError: it cannot be read, a line of it is no prompt, or it holds fewer than are asked for.
        """
        found = self._lines
        if len(found) < self.samples:
            raise ValueError(
                f"{self.file}: {number_of(len(found), 'prompt')}, fewer than samples {self.samples}; use --samples"
            )

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """One prompt a sample, in the order of the file.

        Raises:
            ValueError: as `check`, or turns that the model's chat template does not take.
        """
        self.check()
        return tuple(
            self._prompt(sample, number, line, tokenizer)
            for sample, (number, line) in enumerate(self._lines[: self.samples])
        )

    def _prompt(self, sample: int, number: int, line: OwnPrompt, tokenizer: Tokenizer) -> Prompt:
        if line.messages is None:
            text = f"{tokenizer.bos}{line.text}"
        else:
            try:
                text = tokenizer.chat_text([Turn(turn.role, turn.content) for turn in line.messages])
            except ValueError as error:
                raise ValueError(f"{self.file} line {number}: messages: {error}") from error
        group = f"{OWN}/{line.group or f'line {number}'}"
        return Prompt(sample, "main", tuple(tokenizer.encode(text)), answer=line.answer, group=group)

    @cached_property
    def _data(self) -> bytes:
        try:
            return read_bounded(self.file)
        except RefusedFileError as error:
            raise ValueError(f"{self.file}: {error}") from error

    @cached_property
    def _lines(self) -> list[tuple[int, OwnPrompt]]:
        """Every prompt with the number of its line; blank lines are none."""
        rows = self._data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
        filled = [(number, row) for number, row in enumerate(rows, start=1) if row.strip()]
        if not 0 < len(filled) <= MAX_PROMPTS:
            raise ValueError(
                f"{self.file}: {number_of(len(filled), 'line')}; a file holds 1 to {MAX_PROMPTS} prompts, one a line"
            )
        found = [(number, self._line(number, row)) for number, row in filled]
        self._check_alike(found)
        return found

    def _line(self, number: int, row: bytes) -> OwnPrompt:
        try:
            parse(row)  # refuses what a lenient parser would take: keys twice, NaN, deep nesting
            return OwnPrompt.model_validate_json(row)
        except StrictJsonError as error:
            raise ValueError(f"{self.file} line {number}: {error}") from error
        except ValidationError as error:
            raise ValueError(f"{self.file} line {number}: {describe_invalid(error, OwnPrompt)}") from error

    def _check_alike(self, found: list[tuple[int, OwnPrompt]]) -> None:
        """No prompt twice; all with an answer or none, all text or all messages."""
        seen: dict[object, int] = {}
        first, model = found[0]
        for number, line in found:
            before = seen.setdefault(line.messages or line.text, number)
            if before != number:
                raise ValueError(f"{self.file} line {number}: the prompt of line {before} again; a prompt counts once")
            for field in ("messages", "answer"):
                if (getattr(line, field) is None) != (getattr(model, field) is None):
                    raise ValueError(
                        f"{self.file} line {number}: {field}: lines {first} and {number} differ; give all or none"
                    )
