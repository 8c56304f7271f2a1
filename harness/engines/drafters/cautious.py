"""A trained drafter that proposes only what it is sure of, and rests where it was unsure or wrong.

A rejected block costs a forward of the drafter, and one of the verifier that reads several tokens for one. A drafter
that is blind to a text would pay that at every token. This one pays it at one in 17 (`reports.drafters.rest_after`).
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.engines.drafters.base import DraftCounters, SureDraft, TrainedDrafter
from reports.drafters import rest_after


class CautiousDraft:
    """A stream of the drafter inside, and how long it rests. It reads no clock: a stream has the same drafts always."""

    def __init__(self, inner: SureDraft, least: float) -> None:
        self._inner, self._least = inner, least
        self._failures = self._rest = 0
        self._asked = self._proposed = False

    @property
    def counters(self) -> DraftCounters:
        """Those of the drafter inside, which counts nothing while it rests."""
        return self._inner.counters

    @property
    def nbytes(self) -> int:
        """Those of the drafter inside."""
        return self._inner.nbytes

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
        self._inner.extend(tokens, features)
        if self._asked:
            right = self._proposed and len(tokens) > 1
            self._failures = 0 if right else self._failures + 1
            self._rest = rest_after(self._failures)
            self._asked = False


class CautiousDrafter:
    """Wraps a drafter that knows how likely its drafts are; all else is that drafter's."""

    single_graph: ClassVar[bool] = False

    def __init__(self, inner: TrainedDrafter, least: float) -> None:
        """`least` is the least chance, by the drafter itself, that all drafts it proposes are right."""
        self._inner, self._least = inner, least

    @property
    def name(self) -> str:
        """That of the drafter inside."""
        return self._inner.name

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

    def begin(self) -> CautiousDraft:
        """A stream of the drafter inside that has failed at nothing yet."""
        return CautiousDraft(self._inner.begin(), self._least)
