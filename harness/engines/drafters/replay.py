"""A drafter that knows the stream beforehand and spoils it as asked: what losslessness is tested with.

It is no drafter of an arm, since it must be told the answer. It also checks that its context is given nothing but the
stream it knows.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from harness.base.errors import EngineError
from harness.engines.drafters.base import DraftCounters

Spoil = Callable[[list[int]], list[int]]
"""What is proposed instead of the tokens that really come next."""


def spoils(vocab: int, seed: int = 0) -> dict[str, Spoil]:
    """The adversaries: always right, always wrong, right for all but the last, and right two times in three."""
    dice = random.Random(seed)

    def wrong(drafts: list[int]) -> list[int]:
        return [(token + 1) % vocab for token in drafts]

    def at_random(drafts: list[int]) -> list[int]:
        short = drafts[: dice.randint(0, len(drafts))] if dice.random() < 0.2 else drafts
        return [token if dice.random() < 2 / 3 else dice.randrange(vocab) for token in short]

    return {
        "right": lambda drafts: drafts,
        "wrong": wrong,
        "all-but-the-last": lambda drafts: [*drafts[:-1], *wrong(drafts[-1:])],
        "random": at_random,
    }


class ReplayDraft:
    """Finds its place in the known stream by the length of its context."""

    nbytes: ClassVar[int] = 0

    def __init__(self, whole: Sequence[int], spoil: Spoil) -> None:
        self.counters = DraftCounters()
        self._whole, self._spoil = list(whole), spoil

    def propose(self, last: int, limit: int) -> list[int]:
        """The next `limit` tokens of the stream, zeros beyond its end, spoilt.

        Raises:
            EngineError: `last` is not the stream's token at this place, so the engine has left it.
        """
        at = self.counters.context
        if self._whole[at] != last:
            raise EngineError(f"token {at} is {last}; the stream replayed has {self._whole[at]} there")
        known = self._whole[at + 1 : at + 1 + limit]
        drafts = self._spoil([*known, *[0] * (limit - len(known))])
        self.counters.proposals += 1
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Move on.

        Raises:
            EngineError: `tokens` are not the stream's next ones.
        """
        at = self.counters.context
        if self._whole[at : at + len(tokens)] != list(tokens):
            raise EngineError(f"the context was extended at token {at} with what is not in the stream")
        self.counters.context += len(tokens)


class ReplayDrafter:
    """Replays `whole`: a prompt and the oracle's stream after it."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = "replay"
    runtime: ClassVar[str] = "python"
    layers: ClassVar[tuple[int, ...]] = ()
    weights: ClassVar[str | None] = None
    dtype: ClassVar[str | None] = None

    def __init__(self, whole: Sequence[int], spoil: Spoil) -> None:
        self._whole, self._spoil = whole, spoil

    def begin(self) -> ReplayDraft:
        """At the beginning of the prompt."""
        return ReplayDraft(self._whole, self._spoil)
