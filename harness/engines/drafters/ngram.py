"""The `ngram` drafter: prompt lookup. It has no weights and reads no hidden states."""

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.engines.drafters.base import DraftCounters
from harness.engines.drafters.suffixes import SuffixIndex
from reports.drafters import NGRAM


class NgramDraft:
    """The suffix index of one stream."""

    nbytes: ClassVar[int] = 0

    def __init__(self) -> None:
        self.counters = DraftCounters()
        self._index = SuffixIndex()

    def propose(self, last: int, limit: int) -> list[int]:
        """What followed the longest known suffix; nothing if there is no match."""
        drafts = self._index.continuation(last, limit) if limit else []
        self.counters.proposals += bool(drafts)
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Index `tokens`."""
        self._index.extend(tokens)
        self.counters.context += len(tokens)


class NgramDrafter:
    """Prompt lookup with suffixes of up to three tokens."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = NGRAM.name
    runtime: ClassVar[str] = NGRAM.runtime
    layers: ClassVar[tuple[int, ...]] = ()
    weights: ClassVar[str | None] = None
    dtype: ClassVar[str | None] = None

    def begin(self) -> NgramDraft:
        """An empty index."""
        return NgramDraft()
