"""The fused engine: all layers on plain caches, accepted positions kept where they are, rejected ones trimmed."""

from typing import Any, ClassVar

from harness.clock import Stopwatch
from harness.engines.acceptance import commit
from harness.engines.base import Block, DecodeLimit
from harness.engines.mlx.kv_layout import plain_caches
from harness.engines.mlx.rollback import trim
from harness.engines.mlx.speculative import SpeculativeEngine, SpeculativeSession, extend


class FusedEngine(SpeculativeEngine):
    """Keep the leading matches, trim the rest. The sliding window no longer bounds the bytes held."""

    name: ClassVar[str] = "fused"
    decode_loop: ClassVar[str] = "fused_block"
    rollback: ClassVar[str] = "trim"

    def make_caches(self) -> list[Any]:
        """Plain caches."""
        return list(plain_caches(self._model))

    def block(self, session: SpeculativeSession, last: int, limit: int, stops: DecodeLimit, watch: Stopwatch) -> Block:
        """Draft, verify, trim what did not match, extend the drafter's context with what did."""
        verified = self.verify(session, last, limit, watch)
        done = commit(verified.drafts, verified.choices, stops.stop_tokens)
        with watch.stage("rollback"):
            trim(session.caches, len(verified.drafts) - done.matched)
        extend(session.draft, last, verified, done, 0, watch)
        return Block(done.tokens, len(verified.drafts), done.accepted)
