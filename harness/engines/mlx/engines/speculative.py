"""What the block engines share: prefill with captured layers, the loop over blocks, and the clocks of their stages.

A block is one verifier forward over the last committed token and the drafts after it. The verifier's own token after
the last match is committed too and begins the next block, so no forward is ever spent on it alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import mlx.core as mx

from harness.base.clock import Stopwatch, now
from harness.base.errors import EngineError
from harness.engines.acceptance import Commit
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.mlx.bounded.bounded_verifier import BoundedVerifier, bound
from harness.engines.mlx.drafters.base import Draft, Drafter, GraphDraft, token_ids
from harness.engines.mlx.drafters.load import load_drafter
from harness.engines.mlx.engines.stream_cache import VerifierKv
from harness.engines.mlx.verifier.hidden_states import LayerOutputs
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import chunks
from harness.engines.mlx.verifier.step_loop import check_limit, token_of
from harness.engines.spec import EngineSettings, misfit
from reports.engines import EngineKind
from reports.records.measurement import DrafterInfo, Restoration

AUX = "aux"
STAGES = ("draft", "verify", "extend", "rollback")


@dataclass
class SpeculativeSession:
    """A prompt read into `kv` and into the drafter's context.

    `carry` are committed tokens that a rolled-back cache does not hold; they go into the next block's forward.
    """

    engine: str
    kv: VerifierKv
    draft: Draft
    first_token: int
    aux_s: float
    carry: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Verified:
    """The verifier's choices after the last committed token and after each draft, and the drafts themselves.

    `features` are the captured layers over everything fed, (1, carry + 1 + drafts, layers x hidden).
    """

    drafts: list[int]
    choices: list[int]
    features: mx.array | None


class SpeculativeEngine(ABC):
    """A verifier, a drafter and a way to roll back; an engine whose kind bounds its cache can restore, too."""

    kind: ClassVar[EngineKind]

    def __init__(self, verifier: Verifier, settings: EngineSettings, drafter: Drafter | None = None) -> None:
        """Load the drafter, unless a loaded one is given; check what can be checked before a prompt is read.

        Raises:
            UsageError: bounds that the model does not have or that mean nothing.
            EngineError: a restoration that this engine or model has not, or with layers that cannot restore a block
                of this size; a drafter that does not fit this verifier or cannot be part of a single graph; caches
                that cannot be rolled back.
            ModelError: the weights of drafter or f_theta are missing or of no kind that can be run.
        """
        fault = misfit(self.kind, settings.restoration, settings.drafter)
        if settings.drafter is None or fault is not None:
            raise EngineError(str(fault))
        self._model = verifier.model
        self._spec = settings.drafter
        self._bounded = bound(verifier, settings)
        self._chunk = settings.prefill_chunk if self._bounded is None else self._bounded.chunk
        _check_block(self._spec.block_size, self._bounded)
        self._drafter = drafter or load_drafter(settings.drafter, verifier)
        if self._spec.graph == "single" and not self._drafter.single_graph:
            raise EngineError(f"drafter {self._drafter.name} proposes outside MLX's graph; use graph two_phase")
        self._outputs = LayerOutputs(self._model, self._drafter.layers)
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

    @property
    def restoration(self) -> Restoration:
        """As resolved on this model."""
        return Restoration(mode="none") if self._bounded is None else self._bounded.restoration

    @property
    def drafter(self) -> DrafterInfo:
        """The proposer as loaded."""
        return DrafterInfo(
            name=self._drafter.name,
            weights=self._drafter.weights,
            runtime=self._drafter.runtime,
            dtype=self._drafter.dtype,
            bits=self._spec.bits,
            block_size=self._spec.block_size,
            rollback=self.rollback,
            graph=self._spec.graph,
        )

    def prefill(self, tokens: Sequence[int]) -> SpeculativeSession:
        """Read the prompt in chunks; the drafter's context grows with them, timed as `aux_s`."""
        kv, draft, watch = self.make_kv(), self._drafter.begin(), Stopwatch()
        first = self._read(kv, draft, tokens, 0, watch)
        kv.end_prompt()
        return SpeculativeSession(self.kind.name, kv, draft, first, watch.total(AUX))

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them in chunks behind what is there; the drafter's context grows with them.

        No block runs ahead of its last token, so after one there is always some to read. What a rolled-back cache does
        not hold is among them, and the drafter knows it already.
        """
        own, watch = self._own(session), Stopwatch()
        if not tokens:
            return
        own.kv.go_on()
        own.first_token = self._read(own.kv, own.draft, tokens, len(own.carry), watch)
        own.carry, own.aux_s = [], own.aux_s + watch.total(AUX)

    def held(self, session: Session) -> Held:
        """As the verifier's K/V say."""
        return self._own(session).kv.held()

    def _read(self, kv: VerifierKv, draft: Draft, tokens: Sequence[int], known: int, watch: Stopwatch) -> int:
        """Read `tokens`, of which the drafter has the first `known` already; returns what follows them."""
        start = 0
        for part in [*chunks(tokens, self._chunk), mx.array([[tokens[-1]]])]:
            with self._outputs.capture() as captured:
                logits = kv.read(part)
                features = captured.features()
            mx.eval(features)
            skipped, end = max(0, known - start), start + part.shape[1]
            with watch.stage(AUX):
                if start + skipped < end:
                    draft.extend(tokens[start + skipped : end], None if features is None else features[:, skipped:])
            start = end
            mx.clear_cache()
        return token_of(mx.argmax(logits[0, -1]))

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """Blocks until the limit or a stop token; no block drafts beyond the limit."""
        check_limit(limit)
        own = self._own(session)
        emitted, last, began = 1, own.first_token, now()
        while emitted < limit.max_new_tokens and last not in limit.stop_tokens:
            room = limit.max_new_tokens - emitted
            watch = Stopwatch()
            block = self.block(own, last, min(self._spec.block_size, room) - 1, limit, watch)
            ended = now()
            stages = {f"{stage}_s": watch.total(stage) for stage in STAGES}
            yield Block(block.tokens, block.drafted, block.accepted, **stages, seconds=ended - began)
            emitted, last, began = emitted + len(block.tokens), block.tokens[-1], ended

    def stats(self, session: Session) -> SessionStats:
        """What the verifier's K/V counted; seconds and bytes of the drafter's context are added to theirs."""
        own = self._own(session)
        held, context = own.kv.stats(), own.draft.nbytes
        return replace(held, aux_s=held.aux_s + own.aux_s, kv_bytes=held.kv_bytes + context, drafter_bytes=context)

    def verify(self, session: SpeculativeSession, last: int, limit: int, watch: Stopwatch) -> Verified:
        """Draft, then run the verifier once over carry, `last` and the drafts, and bring its choices to the host.

        In a single graph the drafts never leave MLX before the verifier has read them: one evaluation, one wait.
        """
        draft, known = session.draft, [*session.carry, last]
        lazy: mx.array | None = None
        drafts: list[int] = []
        with watch.stage("draft"):
            if limit and self._spec.graph == "single" and isinstance(draft, GraphDraft):
                lazy = draft.propose_lazily(last, limit)
            elif limit:
                drafts = draft.propose(last, limit)
        with watch.stage("verify"):
            fed = mx.array([*known, *drafts], mx.int32)
            if lazy is not None:
                fed = mx.concatenate([fed, lazy.astype(mx.int32)])
            with self._outputs.capture() as captured:
                logits = session.kv.verify(fed[None])
                features = captured.features()
            choices = mx.argmax(logits[0, len(known) - 1 :], axis=-1)
            mx.eval(choices, fed, features, session.kv.pending())
            if lazy is not None:
                drafts = token_ids(fed[len(known) :])
            return Verified(drafts, token_ids(choices), features)

    def _own(self, session: Session) -> SpeculativeSession:
        if not isinstance(session, SpeculativeSession) or session.engine != self.kind.name:
            raise EngineError(f"{self.kind.name} was given a session of another engine")
        return session


def _check_block(size: int, bounded: BoundedVerifier | None) -> None:
    """Raises: EngineError: a block is longer than layers can restore whose features are made in the same forward."""
    longest = size if bounded is None else bounded.longest_block(size)
    if longest < size:
        raise EngineError(
            f"drafter: block_size: {size} positions, but layers below the proposer's restore from what was read a "
            f"window of {longest} before; use {longest} or fewer, or a wider window"
        )


def extend(draft: Draft, last: int, verified: Verified, done: Commit, skipped: int, watch: Stopwatch) -> None:
    """Give the drafter what the verifier read and kept: `last` and the committed drafts, with their features.

    `skipped` leading positions of the forward (the carry) are in its context already.
    """
    with watch.stage("extend"):
        kept = [last, *done.tokens[:-1]]
        features = verified.features
        draft.extend(kept, None if features is None else features[:, skipped : skipped + len(kept)])
