"""What an f_theta is fitted on: haystacks dense with codes, files of the code workload, and text of the user's own.

A corpus is an endless row of texts; text `i` depends on the recipe and `i` alone, so a longer corpus begins with the
shorter one, and a run that was stopped goes on. Its seeds are none of a preset's: they lie above every seed a preset
may have.
"""

import random
from dataclasses import dataclass

from harness.training.corpus import TrainingText
from workloads.base import PromptStyle, Tokenizer, Turn
from workloads.code import TEMPLATES, Code
from workloads.niah import CUE, GROUP, INSTRUCTION, PREFIXES, QUESTION, needle_line, note

GENERATOR = "harness/training/f_theta/corpus.py"
"""What a recipe says made the text of an f_theta."""
NEEDLE_SHARES = (0.02, 0.1, 0.3)
"""Share of lines with a code, in turns: few as in a prompt, many so that there is something to fit."""
CODE_EVERY = 5
"""One text in so many is code; with texts of the user's, one more is of those."""
ANSWER = "The code is: "
CODE_ITEMS = (8, 20)
CUT = 1024
"""Tokens of a piece of the user's texts."""


@dataclass(frozen=True)
class FThetaTexts:
    """The row of texts. `lines` is the mean size of a haystack; `texts` are the user's, tokenised."""

    seed: int
    lines: int
    style: PromptStyle
    tokenizer: Tokenizer
    texts: tuple[TrainingText, ...] = ()

    def text(self, index: int) -> TrainingText:
        """Text `index`."""
        rng = random.Random(f"f_theta/{self.seed}/{index}")
        turn = index % CODE_EVERY
        if turn == CODE_EVERY - 1:
            return self._code(rng)
        if turn == CODE_EVERY - 2 and self.texts:
            return self._cut(rng)
        return self._haystack(rng, NEEDLE_SHARES[index % len(NEEDLE_SHARES)])

    def _haystack(self, rng: random.Random, share: float) -> TrainingText:
        """A haystack with its question and an answer, `share` of its lines codes and at least one."""
        count = rng.randint(max(2, round(self.lines * 0.6)), max(2, round(self.lines * 1.25)))
        sure, codes, rows = rng.randrange(count), [], []
        for row in range(count):
            if row == sure or rng.random() < share:
                codes.append(f"{rng.choice(PREFIXES)}-{rng.randint(1000, 9999)}")
                rows.append(needle_line(codes[-1]))
            else:
                rows.append(note(rng))
        lines = "\n".join(f"Note {number}: {row}" for number, row in enumerate(rows, start=1))
        body = f"{INSTRUCTION}\n\n{lines}\n\n"
        if self.style == "chat":
            asked = self.tokenizer.chat_text([Turn("user", body + QUESTION)]) + ANSWER
        else:
            asked = f"{self.tokenizer.bos}{body}{CUE} "
        return TrainingText(tuple(self.tokenizer.encode(f"{asked}{rng.choice(codes)}.")), GROUP)

    def _code(self, rng: random.Random) -> TrainingText:
        """A file of the code workload, of a seed that no preset can have."""
        made = Code(rng.randint(*CODE_ITEMS), len(TEMPLATES), 2**33 + rng.randrange(2**31)).prompts(self.tokenizer)
        chosen = rng.choice(made)
        assert chosen.group is not None
        return TrainingText(chosen.tokens, chosen.group)

    def _cut(self, rng: random.Random) -> TrainingText:
        text = rng.choice(self.texts)
        start = rng.randrange(max(1, len(text.tokens) - CUT))
        return TrainingText(text.tokens[start : start + CUT], text.group)
