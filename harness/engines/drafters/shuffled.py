"""The negative control: a real drafter whose tokens go through a permutation, so that its drafts are worthless.

A lossless engine must emit the same tokens with it, and its speed-up must be gone.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.engines.drafters.base import Draft, DraftCounters, Drafter
from reports.drafters import SHUFFLED


@dataclass
class ShuffledDraft:
    """A draft whose proposals are mapped, token by token."""

    inner: Draft
    order: list[int]

    @property
    def counters(self) -> DraftCounters:
        """Those of the draft inside."""
        return self.inner.counters

    @property
    def nbytes(self) -> int:
        """Those of the draft inside."""
        return self.inner.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """The inner proposal, permuted; it has the inner one's length and cost."""
        return [self.order[token] for token in self.inner.propose(last, limit)]

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """The context is the true one."""
        self.inner.extend(tokens, features)


class ShuffledDrafter:
    """Wraps a drafter; the permutation is seeded and fixes no token (one cycle through the vocabulary)."""

    single_graph: ClassVar[bool] = False

    def __init__(self, inner: Drafter, vocab: int, seed: int) -> None:
        self._inner = inner
        cycle = list(range(vocab))
        random.Random(seed).shuffle(cycle)
        self._order = [0] * vocab
        for index, token in enumerate(cycle):
            self._order[token] = cycle[index - 1]

    @property
    def name(self) -> str:
        """The inner name, marked."""
        return SHUFFLED + self._inner.name

    @property
    def runtime(self) -> str:
        """That of the drafter inside."""
        return self._inner.runtime

    @property
    def layers(self) -> tuple[int, ...]:
        """Those the drafter inside reads."""
        return self._inner.layers

    @property
    def weights(self) -> str | None:
        """Those of the drafter inside."""
        return self._inner.weights

    @property
    def dtype(self) -> str | None:
        """That of the drafter inside."""
        return self._inner.dtype

    def begin(self) -> ShuffledDraft:
        """A stream of the drafter inside, its proposals permuted."""
        return ShuffledDraft(self._inner.begin(), self._order)
