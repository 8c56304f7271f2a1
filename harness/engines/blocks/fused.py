"""The fused engine: drafts and the last committed token in one forward, accepted positions kept where they are.

Without restoration all layers are on plain caches and rejected positions are trimmed. With one the cache is bounded as
the incremental engine's is, and evicted K/V are rebuilt in the very forward that verifies, so once a block instead of
once a token; the stream is that of the incremental engine with the same restoration.
"""

from abc import abstractmethod
from typing import ClassVar

from harness.base.clock import Stopwatch
from harness.engines.acceptance import commit
from harness.engines.base import Block, DecodeLimit
from harness.engines.blocks.engine import BlockEngine
from harness.engines.blocks.kv import BoundedKv, VerifierKv
from harness.engines.blocks.session import SpeculativeSession, extend
from reports.engines import FUSED, EngineKind


class FusedBlocks(BlockEngine):
    """Keep the leading matches, let go of the rest. On plain caches no window bounds the bytes held."""

    kind: ClassVar[EngineKind] = FUSED

    @property
    def rollback(self) -> str:
        """Trimmed from plain caches; a bounded one is settled by what was accepted."""
        return "trim" if self._bounded is None else "settle"

    @abstractmethod
    def plain_kv(self) -> VerifierKv:
        """Empty K/V of which everything can be trimmed, or an EngineError."""

    def make_kv(self) -> VerifierKv:
        """Plain caches, or a bounded one."""
        return self.plain_kv() if self._bounded is None else BoundedKv(self._bounded, self._bounded.begin())

    def block(self, session: SpeculativeSession, last: int, limit: int, stops: DecodeLimit, watch: Stopwatch) -> Block:
        """Draft, verify, keep what matched up to a stop token, extend the drafter's context with it."""
        verified = self.verify(session, last, limit, watch)
        done = commit(verified.drafts, verified.choices, stops.stop_tokens)
        with watch.stage("rollback"):
            session.kv.keep(1 + len(verified.drafts), len(done.tokens))
        extend(session.draft, last, verified, done, 0, watch)
        return Block(done.tokens, len(verified.drafts), done.accepted)
