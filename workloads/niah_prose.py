"""Needles in real prose: paragraphs of a module's docstrings, among them sentences of which one or all are asked for.

Every module is a group. The tokens of what is asked for lie outside the sink and outside the window before the
question, so a cache bounded to sink + window has lost them by then. Each prompt has a needle-free twin: the same
haystack without the needles asked for. Forms of needles take turns, and all needles of one haystack are of one form.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reports.records.measurement import PromptSet
from reports.records.plan import Texts
from workloads.base import Prompt, PromptStyle, Tokenizer, Turn, token_span
from workloads.documents import Document, Part, documents, told
from workloads.needles import FORMS, Needle, draw
from workloads.prose import paragraphs

GENERATOR_VERSION = 1
PLACINGS = 200
"""Draws of places for the needles before it is given up."""

_INSTRUCTION = "Read the text, then answer the question about it."
_ALL = "Answer every question, in order, with the answers alone, one a line."
_ALL_CUE = "Answers, in order, one a line:"

Asked = Literal["one", "all"]


@dataclass(frozen=True)
class ProseNiah:
    """The settings of a run.

    `words`: mean size of a haystack; `needles` in each, of which `asked` are asked for; `forms` of them, in turns;
    `sink`, `window`: positions that what is asked for stays out of.
    """

    words: int
    samples: int
    seed: int
    sink: int
    window: int
    style: PromptStyle
    needles: int = 1
    asked: Asked = "one"
    forms: tuple[str, ...] = tuple(FORMS)
    part: Part = "held_out"

    name = "niah"
    form = "prose"
    generator_version = GENERATOR_VERSION

    @property
    def texts(self) -> Texts:
        """The modules whose docstrings may be a haystack."""
        return told(documents(self.part))

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """All prompts, with needles and without, in the order of their samples.

        Raises:
            ValueError: no haystack of the size, or one so small that needles cannot lie outside sink and window.
        """
        haystacks = self._haystacks()
        made: list[Prompt] = []
        for sample in range(self.samples):
            document, rows = next(haystacks)
            made += self._pair(sample, document, rows, tokenizer)
        return tuple(made)

    @property
    def _key(self) -> str:
        return f"niah-prose/{self.generator_version}/{self.seed}"

    def _haystacks(self) -> Iterator[tuple[Document, list[str]]]:
        """Documents with some of their paragraphs; they take turns in an order of the seed's own."""
        rng = random.Random(self._key)
        order = list(documents(self.part))
        rng.shuffle(order)
        long: list[tuple[Document, tuple[str, ...]]] = []
        for document in order:
            found = paragraphs(document)
            if _words(found) >= self.words:
                long.append((document, found))
                yield document, self._drawn(found, rng)
        if not long:
            raise ValueError(f"workload.words: no module has {self.words} words of prose; ask for fewer")
        while True:
            for document, found in long:
                yield document, self._drawn(found, rng)

    def _drawn(self, found: Sequence[str], rng: random.Random) -> list[str]:
        """Paragraphs in their order, round from the last to the first, until there are enough words."""
        wanted = rng.randint(round(self.words * 0.8), self.words)
        start = rng.randrange(len(found))
        rows: list[str] = []
        while _words(rows) < wanted:
            rows.append(found[(start + len(rows)) % len(found)])
        return rows

    def _pair(self, sample: int, document: Document, rows: Sequence[str], tokenizer: Tokenizer) -> list[Prompt]:
        """The prompt with its needles and its twin without those asked for."""
        rng = random.Random(f"{self._key}/{sample}")
        form = self.forms[sample % len(self.forms)]
        needles = draw(form, self.needles, " ".join(rows), rng)
        asked = needles if self.asked == "all" else needles[:1]
        for _ in range(PLACINGS):
            places = [rng.randint(0, len(rows)) for _ in needles]
            haystack = Haystack(document, tuple(rows), tuple(zip(places, needles, strict=True)), asked, form)
            prompt = self._prompt(sample, "main", haystack, tokenizer)
            if self._outside(prompt):
                return [prompt, self._prompt(sample, "needle_free", haystack.without_asked(), tokenizer)]
        raise ValueError(
            f"workload.words: {self.words} words leave no place for {self.needles} needles outside sink {self.sink} "
            f"and window {self.window}; use more words"
        )

    def _outside(self, prompt: Prompt) -> bool:
        """What is asked for lies behind the sink, and no query from the question on has it in its window."""
        assert prompt.needle_first is not None
        assert prompt.needle_last is not None
        assert prompt.question_first is not None
        return prompt.needle_first >= self.sink and prompt.needle_last < prompt.question_first - self.window

    def _prompt(self, sample: int, prompt_set: PromptSet, haystack: "Haystack", tokenizer: Tokenizer) -> Prompt:
        body = f"{_INSTRUCTION}\n\n{haystack.text}\n\n"
        if self.style == "chat":
            text = tokenizer.chat_text([Turn("user", body + haystack.question)])
        else:
            text = f"{tokenizer.bos}{body}{haystack.cue}"
        tokens = tokenizer.encode(text)
        spans = [
            token_span(tokens, text, at, at + len(needle.sentence), tokenizer)
            for needle in haystack.asked
            if (at := text.find(needle.sentence)) >= 0
        ]
        end = text.index(body) + len(body)
        answers = [needle.answer for needle in haystack.asked]
        return Prompt(
            sample=sample,
            prompt_set=prompt_set,
            tokens=tuple(tokens),
            answer=answers[0],
            also_asked=tuple(answers[1:]),
            not_asked=haystack.other_answers,
            needle_first=min((first for first, _ in spans), default=None),
            needle_last=max((last for _, last in spans), default=None),
            question_first=token_span(tokens, text, end, len(text), tokenizer)[0],
            group=haystack.document.name,
            question=f"needle/{haystack.form}",
        )


@dataclass(frozen=True)
class Haystack:
    """Paragraphs of a document and needles among them, each before the row of its number."""

    document: Document
    rows: tuple[str, ...]
    placed: tuple[tuple[int, Needle], ...]
    asked: tuple[Needle, ...]
    form: str

    @property
    def text(self) -> str:
        """Paragraphs with a blank line between them; a needle is a paragraph of its own."""
        parts: list[str] = []
        for row in range(len(self.rows) + 1):
            parts += [needle.sentence for place, needle in self.placed if place == row]
            parts += self.rows[row : row + 1]
        return "\n\n".join(parts)

    @property
    def question(self) -> str:
        """The end of a chat prompt."""
        if len(self.asked) == 1:
            return self.asked[0].question
        return "\n".join([*(_bare(needle.question) for needle in self.asked), _ALL])

    @property
    def cue(self) -> str:
        """The end of a prompt to be completed."""
        if len(self.asked) == 1:
            return self.asked[0].cue
        return "\n".join([*(f"Question: {_bare(needle.question)}" for needle in self.asked), _ALL_CUE, ""])

    @property
    def other_answers(self) -> tuple[str, ...]:
        """What the needles that are not asked for tell."""
        return tuple(needle.answer for _, needle in self.placed if needle not in self.asked)

    def without_asked(self) -> "Haystack":
        """The needle-free twin: the same question, and only the other needles."""
        kept = tuple((place, needle) for place, needle in self.placed if needle not in self.asked)
        return Haystack(self.document, self.rows, kept, self.asked, self.form)


def _words(rows: Sequence[str]) -> int:
    return sum(len(row.split()) for row in rows)


def _bare(question: str) -> str:
    """The question without what it says of the form of its answer."""
    return question.partition("?")[0] + "?"
