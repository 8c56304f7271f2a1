"""The `combined` drafter: prompt lookup where it has a long enough match, DFlash elsewhere.

Lookup costs nothing and copies far; DFlash proposes where nothing repeats. The DFlash context takes every token in,
whoever proposed it.
"""

from collections.abc import Sequence
from typing import ClassVar

import mlx.core as mx

from harness.engines.mlx.drafters.base import DraftCounters
from harness.engines.mlx.drafters.dflash import DflashDraft, DflashDrafter
from harness.engines.mlx.drafters.suffixes import SuffixIndex

SHORTEST = 2
"""Tokens of a suffix that must have occurred before for its continuation to be preferred."""


class CombinedDraft:
    """The suffix index of one stream beside the context of its DFlash drafter."""

    def __init__(self, dflash: DflashDraft) -> None:
        self.counters = DraftCounters()
        self.looked_up = 0
        self._dflash, self._index = dflash, SuffixIndex()

    @property
    def nbytes(self) -> int:
        """Bytes of the DFlash context K/V."""
        return self._dflash.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """What followed the suffix that ends with `last`, if that is long enough; else DFlash's block."""
        drafts = self._index.continuation(last, limit, SHORTEST) if limit else []
        if drafts:
            self.looked_up += 1
        else:
            drafts = self._dflash.propose(last, limit)
        self.counters.proposals += 1
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: mx.array | None) -> None:
        """Both take the tokens in."""
        self._dflash.extend(tokens, features)
        self._index.extend(tokens)
        self.counters.context += len(tokens)


class CombinedDrafter:
    """A DFlash checkpoint with lookup before it; weights, runtime and layers are the checkpoint's."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = "combined"
    runtime: ClassVar[str] = DflashDrafter.runtime

    def __init__(self, dflash: DflashDrafter) -> None:
        self._dflash = dflash

    @property
    def layers(self) -> tuple[int, ...]:
        """The verifier layers DFlash reads."""
        return self._dflash.layers

    @property
    def weights(self) -> str | None:
        """Of the DFlash checkpoint."""
        return self._dflash.weights

    @property
    def dtype(self) -> str:
        """Of the DFlash weights as loaded."""
        return self._dflash.dtype

    @property
    def trained_block_size(self) -> int:
        """Positions of a block DFlash was trained for."""
        return self._dflash.trained_block_size

    def begin(self) -> CombinedDraft:
        """An empty index and an empty context."""
        return CombinedDraft(self._dflash.begin())
