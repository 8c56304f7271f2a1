"""The reference as it was recorded with PyTorch: looks its proposals up, and computes none."""

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.engines.drafters.base import DraftCounters
from reports.drafters import DFLASH_TORCH
from reports.records.recorded_drafts import RecordedDrafts


class RecordedDraft:
    """Knows of a stream nothing but its tokens."""

    nbytes: ClassVar[int] = 0

    def __init__(self, recorded: RecordedDrafts) -> None:
        self.counters = DraftCounters()
        self._recorded = recorded
        self._context: list[int] = []

    def propose(self, last: int, limit: int) -> list[int]:
        """What the reference proposed here; nothing in a context that was not recorded, or for another block.

        The masked positions of a block see each other, so a shorter block is another question.
        """
        drafts = list(self._recorded.proposal(self._context, last)) if limit == self._recorded.block_size - 1 else []
        self.counters.proposals += 1
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Remember where the stream is."""
        self._context.extend(tokens)
        self.counters.context += len(tokens)


class RecordedDrafter:
    """A recording in the place of the drafter it was made of, which reads `layers` of the verifier."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = DFLASH_TORCH.name

    def __init__(self, recorded: RecordedDrafts, layers: tuple[int, ...]) -> None:
        self._recorded = recorded
        self.layers, self.weights = layers, recorded.drafter
        self.runtime, self.dtype = recorded.runtime, recorded.dtype

    def begin(self) -> RecordedDraft:
        """Nothing read yet."""
        return RecordedDraft(self._recorded)
