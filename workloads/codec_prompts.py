"""KV quantisation: a needle prompt, a second question about the same haystack, and a text to compare logits on.

The second question shares every token of the haystack with the first, so that K/V saved after one can serve the other.
The held-out text is prose that is no part of any haystack; its first half is context, the second half is scored.
"""

import random
from dataclasses import dataclass, replace
from typing import Literal

from workloads.base import SYNTHETIC, Prompt, PromptStyle, Tokenizer, common_prefix
from workloads.niah import Niah

GENERATOR_VERSION = 1
SINK, WINDOW = 4, 64
"""Positions the needle stays out of, as in needle runs, so that it is neither at the very beginning nor the end."""

CONTEXT_TOKENS, SCORED_TOKENS = 96, 33
"""Of a held-out text: tokens read before, and after; the last scored token is only predicted."""
PROSE_GROUP = f"{SYNTHETIC}/paragraphs"

SecondForm = Literal["reworded", "short"]
SECOND_QUESTIONS: dict[SecondForm, tuple[str, str]] = {
    "reworded": (
        "One note holds a secret code. What is that secret code? Reply with the code alone.",
        "Question: One note holds a code. What is it?\nAnswer: The secret code in that note is",
    ),
    "short": (
        "What is the secret code? Reply with the code alone.",
        "Question: What is the secret code?\nAnswer: The secret code is",
    ),
}
"""By form, the second question of a chat prompt and the cue of one to be completed. A model of few words, such as
k3-tiny, answers the short one alone; a question that the plain model cannot answer is one that no codec can fail."""

_PROSE = (
    "The ferry left the pier a little after seven, and by the time the fog had lifted the town was only a line of "
    "roofs. A woman in a grey coat counted the crates on deck for the third time, and wrote the number on her sleeve.",
    "Copper was cheap that year, so the workshop made kettles. Each one was hammered over a wooden form, tinned on the "
    "inside and hung in the yard to cool, where apprentices knocked on them to hear whether a seam had failed.",
    "Rivers move their beds when nobody is looking. A bend grows wider with every flood until the water cuts across "
    "its neck, and what is left behind is a lake in the shape of a horseshoe, with reeds and very old fish.",
    "He had learned to read from seed catalogues, and all his life he gave people the names of vegetables. The judge "
    "was a turnip, the baker an early pea; only his sister, who had paid for the school, was called by her name.",
    "In winter the observatory closed at four. The last visitor always asked whether there was life elsewhere, and the "
    "guide, who wanted to go home, always answered that there was a bus to the village at ten past.",
    "Bread rises because yeast breathes. It takes in sugar and gives off gas, and the dough, which is a net of long "
    "and sticky molecules, holds the bubbles until the heat of the oven sets them for good.",
    "The map showed a road where there was none. Three generations of drivers had trusted it, turned left at the "
    "chapel and ended in the same field, and the farmer kept a tractor there, with a rope and a price list.",
    "A violin maker taps the plates of an instrument before they are glued and listens. If the tone is dull, a shaving "
    "is taken from the middle; if it is too bright, there is nothing to be done, and the wood becomes a box.",
    "Nobody had wound the station clock since the strike, and yet it was right twice a day, as the stationmaster liked "
    "to say. Travellers set their watches by the noon gun, and the gun was fired by a man who looked at the clock.",
    "Salt was carried over the pass on mules, forty in a row, and the bell of the first one could be heard an hour "
    "before it came. Children ran to the gate, since the drivers paid for water with almonds and with news.",
    "The library burned for two days. What could be saved was carried to the school, where pupils dried the pages one "
    "by one between sheets of blotting paper, and read a good deal more than they would otherwise have read.",
    "Her first telescope was a tube of pasteboard with two lenses from a pair of broken spectacles. Through it the "
    "moon was upside down and had a purple edge, and she drew it so, purple edge and all, every clear night of May.",
)


@dataclass(frozen=True)
class CodecPrompts:
    """`lines`: mean haystack size; three prompts a sample, of the sets `main`, `second_question` and `held_out`.

    `second`: the form of the second question.
    """

    lines: int
    samples: int
    seed: int
    style: PromptStyle
    second: SecondForm = "reworded"

    name = "kv_quant"
    form = SYNTHETIC
    texts = None
    generator_version = GENERATOR_VERSION

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """All prompts, in the order of their samples.

        Raises:
            ValueError: a haystack so small that the needle cannot lie outside sink and window, or more samples than
                there are held-out texts.
        """
        held_out = self._held_out(tokenizer)
        first = Niah(self.lines, self.samples, self.seed, SINK, WINDOW, self.style)
        question, cue = SECOND_QUESTIONS[self.second]
        second = replace(first, question=question, cue=cue)
        asked, again = (
            [prompt for prompt in niah.prompts(tokenizer) if prompt.prompt_set == "main"] for niah in (first, second)
        )
        made: list[Prompt] = []
        for main, other, text in zip(asked, again, held_out, strict=True):
            made += [main, replace(other, prompt_set="second_question"), text]
        return tuple(made)

    def _held_out(self, tokenizer: Tokenizer) -> list[Prompt]:
        """A text a sample: paragraphs in an order of its own, cut to length; `question_first` is the first scored one.

        What begins as an earlier text begins a sentence later: of short tokens, the length holds less than a paragraph,
        and there are twelve.
        """
        texts: list[tuple[int, ...]] = []
        for sample in range(self.samples):
            rng = random.Random(f"held_out/{self.generator_version}/{self.seed}/{sample}")
            prose = "\n\n".join(rng.sample(_PROSE, len(_PROSE)))
            while (tokens := _cut(prose, tokenizer)) in texts:
                prose = prose.partition(". ")[2]
            if len(tokens) < CONTEXT_TOKENS + SCORED_TOKENS:
                raise ValueError(f"samples: there are no more than {sample} held-out texts; ask for fewer samples")
            texts.append(tokens)
        return [
            Prompt(sample, "held_out", tokens, question_first=CONTEXT_TOKENS, group=PROSE_GROUP)
            for sample, tokens in enumerate(texts)
        ]


def _cut(prose: str, tokenizer: Tokenizer) -> tuple[int, ...]:
    return tuple(tokenizer.encode(tokenizer.bos + prose)[: CONTEXT_TOKENS + SCORED_TOKENS])


def shared_prefix(main: Prompt, second: Prompt) -> int:
    """Tokens both questions have in common from the start: the haystack, whose K/V serve both.

    Raises:
        ValueError: the second question does not follow the same haystack.
    """
    shared = common_prefix(main.tokens, second.tokens)
    if main.needle_last is None or shared <= main.needle_last:
        raise ValueError(f"sample {main.sample}: the second question does not follow the same haystack")
    return min(shared, len(main.tokens) - 1, len(second.tokens) - 1)
