"""Needle in a haystack: numbered note lines, one of which holds a code; the model is asked for the code alone.

Sizes are in lines: `lines = 70` draws each haystack between 60 and 80 lines. The needle's tokens lie outside the sink
and outside the window of the last positions, so a cache bounded to sink + window has lost them by the end of the
prompt. Each prompt has a needle-free twin: the same haystack, the needle line replaced by an ordinary one.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from reports.records.measurement import PromptSet
from workloads.base import SYNTHETIC, Prompt, PromptStyle, Tokenizer, Turn, common_suffix, token_span

GENERATOR_VERSION = 1
GROUP = f"{SYNTHETIC}/notes"
PREFIXES = ("ALPHA", "BETA", "GAMMA", "DELTA", "KAPPA", "SIGMA", "THETA", "OMEGA", "LAMBDA", "ZETA")
_SUBJECTS = (
    "gardener", "teacher", "pilot", "baker", "doctor", "farmer", "sailor", "painter", "writer", "miner",
    "driver", "singer", "tailor", "lawyer", "chemist", "carpenter",
)  # fmt: skip
_VERBS = (
    "paints", "moves", "cleans", "checks", "finds", "sells", "counts", "repairs", "watches", "carries", "opens",
    "draws", "visits", "orders",
)  # fmt: skip
_OBJECTS = (
    "the old bridge", "a wooden fence", "the red boat", "two green chairs", "the small tower", "a heavy box",
    "the garden wall", "three blue lamps", "the empty hall", "a long rope", "the front door", "the stone well",
    "a paper map", "the north gate",
)  # fmt: skip
_TIMES = ("at noon", "at dawn", "on Monday", "in spring", "after lunch", "in the rain", "before dark", "every week")
INSTRUCTION = "Read the notes. One of them holds a secret code."
QUESTION = "What is the secret code in the notes? Reply with the code alone."
CUE = "Question: What is the secret code in the notes?\nAnswer: The secret code is"


@dataclass(frozen=True)
class Niah:
    """The settings of a haystack run.

    `lines`: mean haystack size; `sink`, `window`: positions the needle must stay out of. `question` ends a chat prompt,
    `cue` one to be completed; haystacks do not depend on them.
    """

    lines: int
    samples: int
    seed: int
    sink: int
    window: int
    style: PromptStyle
    question: str = QUESTION
    cue: str = CUE

    name = "niah"
    form = SYNTHETIC
    texts = None
    generator_version = GENERATOR_VERSION

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """All prompts, needle and needle-free, in the order of their samples.

        Raises:
            ValueError: a haystack so small that the needle cannot lie outside sink and window.
        """
        made = []
        for sample in range(self.samples):
            made += self._pair(sample, tokenizer)
        return tuple(made)

    def _pair(self, sample: int, tokenizer: Tokenizer) -> list[Prompt]:
        rng = random.Random(f"niah/{self.generator_version}/{self.seed}/{sample}")
        count = rng.randint(max(2, round(self.lines * 0.85)), max(2, round(self.lines * 1.15)))
        notes = [note(rng) for _ in range(count)]
        code = f"{rng.choice(PREFIXES)}-{rng.randint(1000, 9999)}"
        rows = list(range(count))
        rng.shuffle(rows)
        for row in rows:
            prompt = self._prompt(
                sample, "main", [*notes[:row], needle_line(code), *notes[row + 1 :]], row, code, tokenizer
            )
            if self._outside(prompt):
                return [prompt, self._prompt(sample, "needle_free", notes, row, code, tokenizer)]
        raise ValueError(
            f"workload.lines: {self.lines} lines leave no place for a needle outside sink {self.sink} and window "
            f"{self.window}; use more lines"
        )

    def _outside(self, prompt: Prompt) -> bool:
        """The needle lies behind the sink, and no query from the question on has it in its window."""
        assert prompt.needle_first is not None
        assert prompt.needle_last is not None
        assert prompt.question_first is not None
        return prompt.needle_first >= self.sink and prompt.needle_last < prompt.question_first - self.window

    def _prompt(
        self, sample: int, prompt_set: PromptSet, notes: Sequence[str], row: int, code: str, tokenizer: Tokenizer
    ) -> Prompt:
        lines = [f"Note {number}: {note}" for number, note in enumerate(notes, start=1)]
        before, needle, after = "\n".join(lines[:row]), lines[row], "\n".join(lines[row + 1 :])
        body = f"{INSTRUCTION}\n\n{before}\n"
        tail = f"\n{after}\n\n"
        if self.style == "chat":
            text = tokenizer.chat_text([Turn("user", f"{body}{needle}{tail}{self.question}")])
        else:
            text = f"{tokenizer.bos}{body}{needle}{tail}{self.cue}"
        tokens = tokenizer.encode(text)
        start = text.index(needle + tail)
        first, last = token_span(tokens, text, start, start + len(needle), tokenizer)
        question = common_suffix(tokens, tokenizer.encode(text[start + len(needle + tail) :]))
        has_needle = prompt_set == "main"
        return Prompt(
            sample=sample,
            prompt_set=prompt_set,
            tokens=tuple(tokens),
            answer=code,
            needle_first=first if has_needle else None,
            needle_last=last if has_needle else None,
            question_first=len(tokens) - question,
            group=GROUP,
        )


def note(rng: random.Random) -> str:
    """An ordinary line, drawn."""
    return f"the {rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)} {rng.choice(_TIMES)}."


def needle_line(code: str) -> str:
    """The line that holds a code."""
    return f"the secret code is {code}."
