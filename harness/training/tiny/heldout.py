"""Held-out figures of k3-tiny: K3's own workloads with seeds of presets, which training never draws from."""

from collections.abc import Sequence

import torch

from harness.models.model_text import ModelText
from harness.training.tiny.model import TinyModel
from harness.training.tiny.tokenizer import SPECIAL
from reports.records.record import Record
from workloads.base import Prompt
from workloads.code import Code
from workloads.niah import Niah

SEED = 42
LINES = (8, 20, 38, 45)
"""Haystacks of about 150, 300, 600 and 700 tokens."""


class Recall(Record):
    """Share of needle prompts whose whole answer is the greedy continuation, and of needle-free ones likewise."""

    lines: int
    tokens: int
    needle: float
    needle_free: float


class HeldOutScores(Record):
    """Recall by size of the haystack; `code_accuracy`: share of tokens of code prompts that are the argmax."""

    samples: int
    seed: int
    recall: tuple[Recall, ...]
    code_accuracy: float

    def __str__(self) -> str:
        found = " ".join(f"{line.tokens}:{line.needle:.2f}/{line.needle_free:.2f}" for line in self.recall)
        return f"held out: recall by tokens (needle/needle-free) {found} code accuracy {self.code_accuracy:.3f}"


def held_out(model: TinyModel, text: ModelText, samples: int) -> HeldOutScores:
    """Teacher-forced, so an answer counts if each of its tokens is the argmax after the ones before it."""
    recalls = tuple(_recall(model, text, lines, samples) for lines in LINES)
    hits = [hit for prompt in Code(12, samples, SEED).prompts(text) for hit in _hits(model, prompt.tokens, 1)]
    return HeldOutScores(samples=samples, seed=SEED, recall=recalls, code_accuracy=round(sum(hits) / len(hits), 4))


def _recall(model: TinyModel, text: ModelText, lines: int, samples: int) -> Recall:
    prompts = Niah(lines, samples, SEED, 0, 0, "completion").prompts(text)
    found: dict[str, list[bool]] = {"main": [], "needle_free": []}
    for prompt in prompts:
        found[prompt.prompt_set].append(_answered(model, text, prompt))
    return Recall(
        lines=lines,
        tokens=round(sum(len(prompt.tokens) for prompt in prompts) / len(prompts)),
        needle=sum(found["main"]) / samples,
        needle_free=sum(found["needle_free"]) / samples,
    )


def _answered(model: TinyModel, text: ModelText, prompt: Prompt) -> bool:
    answer = text.encode(f" {prompt.answer}.")
    return all(_hits(model, [*prompt.tokens, *answer], len(prompt.tokens)))


@torch.inference_mode()
def _hits(model: TinyModel, tokens: Sequence[int], start: int) -> list[bool]:
    """For each position from `start` on: its token is the argmax after those before."""
    window = model.config.window
    padded = [*tokens, *[SPECIAL["<pad>"]] * (-len(tokens) % window)]
    hidden = model.hidden(torch.tensor([padded]))[0, start - 1 : len(tokens) - 1]
    choices = model.logits(hidden).argmax(dim=-1)
    return [bool(hit) for hit in choices == torch.tensor(list(tokens[start:]))]
