"""Drafters whose proposals are known beforehand: they replay a verifier's own stream, spoilt as asked."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mlx.core as mx

from harness.engines.mlx.drafters.base import DraftCounters
from tests.harness.engines.mlx.tiny_models import VOCAB

Spoil = Callable[[list[int]], list[int]]


def right(drafts: list[int]) -> list[int]:
    return drafts


def wrong(drafts: list[int]) -> list[int]:
    return [(token + 1) % VOCAB for token in drafts]


def all_but_the_last(drafts: list[int]) -> list[int]:
    return [*drafts[:-1], *wrong(drafts[-1:])]


def at_random(seed: int) -> Spoil:
    """Each draft is right with a chance of two thirds; now and then a proposal is short or empty."""
    dice = random.Random(seed)

    def spoil(drafts: list[int]) -> list[int]:
        short = drafts[: dice.randint(0, len(drafts))] if dice.random() < 0.2 else drafts
        return [token if dice.random() < 0.67 else dice.randrange(VOCAB) for token in short]

    return spoil


@dataclass
class ReplayDraft:
    """Knows prompt and stream; finds its place by the length of its context, and checks that context on the way."""

    whole: list[int]
    spoil: Spoil
    counters: DraftCounters = field(default_factory=DraftCounters)
    nbytes: int = 0
    context: list[int] = field(default_factory=list)

    def propose(self, last: int, limit: int) -> list[int]:
        at = len(self.context)
        assert self.whole[at] == last
        padded = [*self.whole[at + 1 : at + 1 + limit], *[0] * limit][:limit]
        return self.spoil(padded)

    def propose_lazily(self, last: int, limit: int) -> mx.array:
        drafts = self.propose(last, limit)
        return mx.array([*drafts, *[0] * (limit - len(drafts))], mx.int32)

    def extend(self, tokens: Sequence[int], features: mx.array | None) -> None:
        assert features is None
        self.context += tokens
        assert self.context == self.whole[: len(self.context)], "the context was given something not committed"


@dataclass
class ReplayDrafter:
    """Replays `whole`, prompt and stream of the oracle."""

    whole: list[int]
    spoil: Spoil
    name: str = "replay"
    runtime: str = "python"
    single_graph: bool = True
    layers: tuple[int, ...] = ()
    weights: str | None = None
    dtype: str | None = None

    def begin(self) -> ReplayDraft:
        return ReplayDraft(self.whole, self.spoil)
