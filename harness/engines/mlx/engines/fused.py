"""The fused engine: drafts and the last committed token in one forward, accepted positions kept where they are.

Without restoration all layers are on plain caches and rejected positions are trimmed. With one the cache is bounded as
the incremental engine's is, and evicted K/V are rebuilt in the very forward that verifies, so once a block instead of
once a token; the stream is that of the incremental engine with the same restoration.
"""

from typing import ClassVar

from harness.base.clock import Stopwatch
from harness.engines.acceptance import commit
from harness.engines.base import Block, DecodeLimit
from harness.engines.mlx.engines.speculative import SpeculativeEngine, SpeculativeSession, extend
from harness.engines.mlx.engines.stream_cache import BoundedKv, ModelKv, VerifierKv
from harness.engines.mlx.verifier.plain_caches import plain_caches
from reports.engines import FUSED, EngineKind


class FusedEngine(SpeculativeEngine):
    """Keep the leading matches, let go of the rest. On plain caches no window bounds the bytes held."""

    kind: ClassVar[EngineKind] = FUSED

    @property
    def rollback(self) -> str:
        """Trimmed from plain caches; a bounded one is settled by what was accepted."""
        return "trim" if self._bounded is None else "settle"

    def make_kv(self) -> VerifierKv:
        """Plain caches, or a bounded one."""
        if self._bounded is None:
            return ModelKv(self._model, list(plain_caches(self._model)))
        return BoundedKv(self._bounded, self._bounded.begin())

    def block(self, session: SpeculativeSession, last: int, limit: int, stops: DecodeLimit, watch: Stopwatch) -> Block:
        """Draft, verify, keep what matched up to a stop token, extend the drafter's context with it."""
        verified = self.verify(session, last, limit, watch)
        done = commit(verified.drafts, verified.choices, stops.stop_tokens)
        with watch.stage("rollback"):
            session.kv.keep(1 + len(verified.drafts), len(done.tokens))
        extend(session.draft, last, verified, done, 0, watch)
        return Block(done.tokens, len(verified.drafts), done.accepted)
