"""What a drafter around another one, and its streams, have of the one inside: all that they do not say themselves."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from harness.engines.drafters.base import Draft, DraftCounters, Drafter

AnyDraft = TypeVar("AnyDraft", bound=Draft)
AnyDrafter = TypeVar("AnyDrafter", bound=Drafter)


class WrappedDraft(Generic[AnyDraft]):
    """A stream of the drafter inside, whose proposals go through other hands."""

    def __init__(self, inner: AnyDraft) -> None:
        self._inner = inner

    @property
    def counters(self) -> DraftCounters:
        """Those of the stream inside."""
        return self._inner.counters

    @property
    def nbytes(self) -> int:
        """Those of the stream inside."""
        return self._inner.nbytes

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """The context is the one inside."""
        self._inner.extend(tokens, features)


class WrappedDrafter(Generic[AnyDrafter]):
    """Weights, runtime, type and layers are those of the drafter inside. Its drafts are looked at, so they leave the
    graph of the verifier."""

    single_graph: ClassVar[bool] = False

    def __init__(self, inner: AnyDrafter, name: str | None = None) -> None:
        """`name` is what it is called; by default as the one inside."""
        self._inner = inner
        self.name = name or inner.name
        self.runtime, self.weights, self.dtype, self.layers = inner.runtime, inner.weights, inner.dtype, inner.layers
