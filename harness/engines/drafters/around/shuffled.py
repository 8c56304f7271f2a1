"""The negative control: a real drafter whose tokens go through a permutation, so that its drafts are worthless.

A lossless engine must emit the same tokens with it, and its speed-up must be gone.
"""

import random

from harness.engines.drafters.around.wrapped import WrappedDraft, WrappedDrafter
from harness.engines.drafters.base import Draft, Drafter
from reports.drafters import SHUFFLED


class ShuffledDraft(WrappedDraft[Draft]):
    """A draft whose proposals are mapped, token by token. Its context is the true one."""

    def __init__(self, inner: Draft, order: list[int]) -> None:
        super().__init__(inner)
        self._order = order

    def propose(self, last: int, limit: int) -> list[int]:
        """The inner proposal, permuted; it has the inner one's length and cost."""
        return [self._order[token] for token in self._inner.propose(last, limit)]


class ShuffledDrafter(WrappedDrafter[Drafter]):
    """Wraps a drafter, whose name it marks; the permutation is seeded and fixes no token (one cycle through the
    vocabulary)."""

    def __init__(self, inner: Drafter, vocab: int, seed: int) -> None:
        super().__init__(inner, SHUFFLED + inner.name)
        cycle = list(range(vocab))
        random.Random(seed).shuffle(cycle)
        self._order = [0] * vocab
        for index, token in enumerate(cycle):
            self._order[token] = cycle[index - 1]

    def begin(self) -> ShuffledDraft:
        """A stream of the drafter inside, its proposals permuted."""
        return ShuffledDraft(self._inner.begin(), self._order)
