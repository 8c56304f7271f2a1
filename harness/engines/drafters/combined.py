"""The `combined` drafter: prompt lookup where its match is worth more than a DFlash block, DFlash elsewhere.

Lookup costs nothing and copies far; DFlash proposes where nothing repeats, and nothing where it is unsure. The DFlash
context takes every token in, whoever proposed it.
"""

from collections.abc import Sequence
from typing import Any

from harness.engines.drafters.around.wrapped import WrappedDrafter
from harness.engines.drafters.base import DraftCounters, SureDraft, TrainedDrafter
from harness.engines.drafters.preference import DFLASH, SURE, Preference
from harness.engines.drafters.suffixes import SuffixIndex
from reports.drafters import COMBINED


class CombinedDraft:
    """The suffix index of one stream beside the context of its DFlash drafter."""

    def __init__(self, dflash: SureDraft, trained: int) -> None:
        """`trained` is the most DFlash can draft at once."""
        self.counters = DraftCounters()
        self.asked: list[int] = []
        self._dflash, self._index, self._trained = dflash, SuffixIndex(), trained
        self._preference = Preference()
        self._proposal: tuple[int, int] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the DFlash context K/V."""
        return self._dflash.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """What followed the suffix that ends with `last`, or DFlash's block as far as it is sure of it."""
        if not limit:
            return []
        source = self._preference.source(self._index.matched(last))
        worth = min(limit, self._preference.drafts(source))
        if source == DFLASH:
            drafts = self._dflash.propose_sure(last, min(worth, self._trained), SURE)
        else:
            drafts = self._index.continuation(last, worth)
        self._proposal = source, len(drafts)
        self.asked.append(source)
        self.counters.proposals += 1
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Both take the tokens in; those that follow a proposal tell what it was worth."""
        self._dflash.extend(tokens, features)
        self._index.extend(tokens)
        self.counters.context += len(tokens)
        if self._proposal is not None:
            self._preference.learn(*self._proposal, accepted=len(tokens) - 1)
            self._proposal = None


class CombinedDrafter(WrappedDrafter[TrainedDrafter]):
    """A DFlash checkpoint with lookup beside it; weights, runtime and layers are the checkpoint's.

    Blocks may be larger than those DFlash was trained for, since only lookup fills them.
    """

    def __init__(self, dflash: TrainedDrafter) -> None:
        super().__init__(dflash, COMBINED.name)

    def begin(self) -> CombinedDraft:
        """An empty index and an empty context."""
        return CombinedDraft(self._inner.begin(), self._inner.trained_block_size - 1)
