"""The protocol every drafter follows, and what it counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from harness.engines.spec import DrafterSpec, Graph
from reports.records.measurement import DrafterInfo


@dataclass
class DraftCounters:
    """Counted where it happens: proposals made, tokens proposed, tokens of context taken in."""

    proposals: int = 0
    proposed: int = 0
    context: int = 0


class Draft(Protocol):
    """What a drafter knows of one stream."""

    @property
    def counters(self) -> DraftCounters: ...

    @property
    def nbytes(self) -> int:
        """Bytes of K/V its context holds; 0 for one without."""
        ...

    def propose(self, last: int, limit: int) -> list[int]:
        """At most `limit` tokens to follow `last`, the newest committed token, which the context does not have yet.

        Evaluated: what it costs is over when it returns. An empty list makes the block a plain step.
        """
        ...

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Take in tokens that the verifier has read and kept, in order, and nothing else.

        `features` are the outputs of the drafter's verifier layers at those tokens, concatenated, an array of the
        backend of shape (1, len(tokens), layers x hidden); None for a drafter that reads no layer. Evaluated when it
        returns.
        """
        ...


class SureDraft(Draft, Protocol):
    """A draft that knows how likely its proposal is to be right."""

    def propose_sure(self, last: int, limit: int, least: float) -> list[int]:
        """As `propose`, the leading drafts whose probabilities multiply to at least `least`; none where it is unsure of
        the first."""
        ...


@runtime_checkable
class GraphDraft(Draft, Protocol):
    """A draft whose proposal can stay in MLX's graph, so that drafting and verifying are evaluated together."""

    def propose_lazily(self, last: int, limit: int) -> Any:
        """Exactly `limit` tokens, shape (limit,), int32, not evaluated."""
        ...


class Drafter(Protocol):
    """A proposer, loaded once and shared by the streams of an arm.

    `layers` are the verifier layers whose outputs it reads; `weights` is the digest of its own weights, if it has
    any; `single_graph` says that its drafts are `GraphDraft`s.
    """

    single_graph: ClassVar[bool]

    @property
    def name(self) -> str: ...

    @property
    def runtime(self) -> str: ...

    @property
    def layers(self) -> tuple[int, ...]: ...

    @property
    def weights(self) -> str | None: ...

    @property
    def dtype(self) -> str | None: ...

    def begin(self) -> Draft:
        """A stream with an empty context; the prompt comes through `extend`, chunk by chunk."""
        ...


class TrainedDrafter(Drafter, Protocol):
    """One that was trained for blocks of a size, and for how likely each token of them is."""

    @property
    def trained_block_size(self) -> int: ...

    def begin(self) -> SureDraft: ...


def told_of(drafter: Drafter, spec: DrafterSpec, rollback: str, graph: Graph) -> DrafterInfo:
    """What a report says of a drafter that was loaded as `spec` asks."""
    return DrafterInfo(
        name=drafter.name,
        weights=drafter.weights,
        runtime=drafter.runtime,
        dtype=drafter.dtype,
        bits=spec.bits,
        block_size=spec.block_size,
        sure=spec.sure,
        rollback=rollback,
        graph=graph,
    )
