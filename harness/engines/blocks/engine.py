"""What the block engines share: prefill with captured layers, the loop over blocks, and the clocks of their stages.

A block is one verifier forward over the last committed token and the drafts after it. The verifier's own token after
the last match is committed too and begins the next block, so no forward is ever spent on it alone.

A backend adds how a part of a prompt is read, how a block is verified, and which K/V can be rolled back.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from harness.base.clock import Stopwatch
from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.blocks.kv import VerifierKv
from harness.engines.blocks.session import SpeculativeSession, Verified
from harness.engines.bounded.arrays import Array
from harness.engines.bounded.bounded_verifier import BoundedVerifier
from harness.engines.drafters.base import Draft, Drafter, told_of
from harness.engines.spec import DrafterSpec, EngineSettings, misfit
from reports.engines import EngineKind
from reports.records.measurement import DrafterInfo, Restoration

AUX = "aux"
STAGES = ("draft", "verify", "extend", "rollback")


class BlockEngine(ABC):
    """A verifier, a drafter and a way to roll back; an engine whose kind bounds its cache can restore, too."""

    kind: ClassVar[EngineKind]

    def __init__(
        self,
        settings: EngineSettings,
        spec: DrafterSpec,
        drafter: Drafter,
        bounded: BoundedVerifier | None,
        now: Callable[[], float],
    ) -> None:
        """`spec` is what `settings` ask of the drafter, `now` the clock of the backend.

        Raises:
            EngineError: layers cannot restore a block of this size; a drafter that cannot be part of a single graph;
                caches that cannot be rolled back.
        """
        self._spec, self._drafter, self._bounded, self._now = spec, drafter, bounded, now
        self._chunk = settings.prefill_chunk if bounded is None else bounded.chunk
        _check_block(spec.block_size, bounded)
        if spec.graph == "single" and not drafter.single_graph:
            raise EngineError(f"drafter {drafter.name} proposes outside the verifier's graph; use graph two_phase")
        self.make_kv()

    @property
    @abstractmethod
    def rollback(self) -> str:
        """How what was not accepted is taken back, for the report."""

    @abstractmethod
    def make_kv(self) -> VerifierKv:
        """Empty K/V of the layout this engine can roll back exactly, or an EngineError."""

    @abstractmethod
    def block(self, session: SpeculativeSession, last: int, limit: int, stops: DecodeLimit, watch: Stopwatch) -> Block:
        """One block after the committed token `last`, with at most `limit` drafts; stages are timed by `watch`."""

    @abstractmethod
    def read(self, kv: VerifierKv, part: Sequence[int]) -> tuple[Array, Array | None]:
        """Read a part of a prompt: its logits, and the drafter's features of it, those evaluated."""

    @abstractmethod
    def verify(self, session: SpeculativeSession, last: int, limit: int, watch: Stopwatch) -> Verified:
        """Draft, then run the verifier once over carry, `last` and the drafts, and bring its choices to the host."""

    @abstractmethod
    def token_after(self, logits: Array) -> int:
        """The greedy token after the last position of `logits` (1, L, vocabulary), evaluated."""

    @property
    def restoration(self) -> Restoration:
        """As resolved on this model."""
        return Restoration(mode="none") if self._bounded is None else self._bounded.restoration

    @property
    def drafter(self) -> DrafterInfo:
        """The proposer as loaded."""
        return told_of(self._drafter, self._spec, self.rollback, self._spec.graph)

    def prefill(self, tokens: Sequence[int]) -> SpeculativeSession:
        """Read the prompt in chunks; the drafter's context grows with them, timed as `aux_s`."""
        kv, draft, watch = self.make_kv(), self._drafter.begin(), Stopwatch(self._now)
        first = self._read_all(kv, draft, tokens, 0, watch)
        kv.end_prompt()
        return SpeculativeSession(self.kind.name, kv, draft, first, watch.total(AUX))

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them in chunks behind what is there; the drafter's context grows with them.

        No block runs ahead of its last token, so after one there is always some to read. What a rolled-back cache does
        not hold is among them, and the drafter knows it already.
        """
        own, watch = self._own(session), Stopwatch(self._now)
        if not tokens:
            return
        own.kv.go_on()
        own.first_token = self._read_all(own.kv, own.draft, tokens, len(own.carry), watch)
        own.carry, own.aux_s = [], own.aux_s + watch.total(AUX)

    def held(self, session: Session) -> Held:
        """As the verifier's K/V say."""
        return self._own(session).kv.held()

    def _read_all(self, kv: VerifierKv, draft: Draft, tokens: Sequence[int], known: int, watch: Stopwatch) -> int:
        """Read `tokens`, of which the drafter has the first `known` already; returns what follows them."""
        if not tokens:
            raise EngineError("the prompt is empty; there is nothing to read")
        starts = [*range(0, len(tokens) - 1, self._chunk), len(tokens) - 1]
        for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=True):
            logits, features = self.read(kv, tokens[start:stop])
            skipped = max(0, known - start)
            with watch.stage(AUX):
                if start + skipped < stop:
                    draft.extend(tokens[start + skipped : stop], None if features is None else features[:, skipped:])
        return self.token_after(logits)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """Blocks until the limit or a stop token; no block drafts beyond the limit."""
        limit.check()
        own = self._own(session)
        emitted, last, began = 1, own.first_token, self._now()
        while emitted < limit.max_new_tokens and last not in limit.stop_tokens:
            room = limit.max_new_tokens - emitted
            watch = Stopwatch(self._now)
            block = self.block(own, last, min(self._spec.block_size, room) - 1, limit, watch)
            ended = self._now()
            stages = {f"{stage}_s": watch.total(stage) for stage in STAGES}
            yield Block(block.tokens, block.drafted, block.accepted, **stages, seconds=ended - began)
            emitted, last, began = emitted + len(block.tokens), block.tokens[-1], ended

    def stats(self, session: Session) -> SessionStats:
        """What the verifier's K/V counted; seconds and bytes of the drafter's context are added to theirs."""
        own = self._own(session)
        held, context = own.kv.stats(), own.draft.nbytes
        return replace(held, aux_s=held.aux_s + own.aux_s, kv_bytes=held.kv_bytes + context, drafter_bytes=context)

    def _own(self, session: Session) -> SpeculativeSession:
        if not isinstance(session, SpeculativeSession) or session.engine != self.kind.name:
            raise EngineError(f"{self.kind.name} was given a session of another engine")
        return session


def drafter_asked(kind: EngineKind, settings: EngineSettings) -> DrafterSpec:
    """What `settings` ask of the drafter.

    Raises:
        EngineError: nothing, or something that no engine of this kind does.
    """
    fault = misfit(kind, settings.restoration, settings.drafter)
    if settings.drafter is None or fault is not None:
        raise EngineError(str(fault))
    return settings.drafter


def _check_block(size: int, bounded: BoundedVerifier | None) -> None:
    """Raises: EngineError: a block is longer than layers can restore whose features are made in the same forward."""
    longest = size if bounded is None else bounded.longest_block(size)
    if longest < size:
        raise EngineError(
            f"drafter: block_size: {size} positions, but layers below the proposer's restore from what was read a "
            f"window of {longest} before; use {longest} or fewer, or a wider window"
        )
