"""A trained drafter that proposes only what it is sure of, and rests where it was unsure or wrong.

A rejected block costs a forward of the drafter, and one of the verifier that reads several tokens for one. A drafter
that is blind to a text would pay that at every token. This one pays it at one in 17 (`reports.drafters.rest_after`).
"""

from collections.abc import Sequence
from typing import Any

from harness.engines.drafters.around.wrapped import WrappedDraft, WrappedDrafter
from harness.engines.drafters.base import SureDraft, TrainedDrafter
from reports.drafters import rest_after


class CautiousDraft(WrappedDraft[SureDraft]):
    """A stream of the drafter inside, and how long it rests. It reads no clock: a stream has the same drafts always."""

    def __init__(self, inner: SureDraft, least: float) -> None:
        super().__init__(inner)
        self._least = least
        self._failures = self._rest = 0
        self._asked = self._proposed = False

    def propose(self, last: int, limit: int) -> list[int]:
        """The leading drafts that are right together by a chance of at least `least`; none while it rests."""
        if not limit:
            return []
        if self._rest:
            self._rest -= 1
            return []
        drafts = self._inner.propose_sure(last, limit, self._least)
        self._asked, self._proposed = True, bool(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """The drafter inside takes all in; tokens that follow a proposal tell whether its first draft was right."""
        super().extend(tokens, features)
        if self._asked:
            right = self._proposed and len(tokens) > 1
            self._failures = 0 if right else self._failures + 1
            self._rest = rest_after(self._failures)
            self._asked = False


class CautiousDrafter(WrappedDrafter[TrainedDrafter]):
    """Wraps a drafter that knows how likely its drafts are; all else is that drafter's."""

    def __init__(self, inner: TrainedDrafter, least: float) -> None:
        """`least` is the least chance, by the drafter itself, that all drafts it proposes are right."""
        super().__init__(inner)
        self._least = least

    def begin(self) -> CautiousDraft:
        """A stream of the drafter inside that has failed at nothing yet."""
        return CautiousDraft(self._inner.begin(), self._least)
