"""The fused engine over native caches: the whole forward is rolled back, committed tokens are carried along.

Rings keep their bound. When a draft is rejected, every cache goes back to its copy from before the block, and what was
committed is fed again in front of the next block, in the same forward.

It restores nothing. A bounded cache lets go of nothing before it is known what was accepted, so there a block is rolled
back without a copy and without a carry: that is `fused` with a restoration.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from harness.base.clock import Stopwatch
from harness.engines.acceptance import commit
from harness.engines.base import Block, DecodeLimit
from harness.engines.blocks.engine import BlockEngine
from harness.engines.blocks.session import SpeculativeSession, extend
from reports.engines import FUSED_CARRY, EngineKind

CARRY_BLOCKS = 2
"""Blocks' worth of carried tokens after which one block drafts nothing, so that all it feeds is kept."""


class CarryingBlocks(BlockEngine):
    """Snapshot, roll back everything, carry what was committed."""

    kind: ClassVar[EngineKind] = FUSED_CARRY

    @property
    def rollback(self) -> str:
        """Everything, from a copy."""
        return "snapshot_and_carry"

    @abstractmethod
    def snapshot(self, session: SpeculativeSession) -> Callable[[], None]:
        """Remember every cache; what is returned puts them back, once."""

    def block(self, session: SpeculativeSession, last: int, limit: int, stops: DecodeLimit, watch: Stopwatch) -> Block:
        """Snapshot, draft, verify; on a rejected draft restore and carry, else nothing is left to carry.

        Without a bound a drafter that is always wrong would make the carry, and the forward, grow with the stream.
        """
        if len(session.carry) >= CARRY_BLOCKS * self._spec.block_size:
            limit = 0
        with watch.stage("rollback"):
            restore = self.snapshot(session) if limit else None
        verified = self.verify(session, last, limit, watch)
        done = commit(verified.drafts, verified.choices, stops.stop_tokens)
        carried = session.carry
        with watch.stage("rollback"):
            if len(done.tokens) == 1 + len(verified.drafts):
                session.carry = []
            else:
                if restore is not None:
                    restore()
                session.carry = [*carried, last, *done.tokens[:-1]]
        extend(session.draft, last, verified, done, len(carried), watch)
        return Block(done.tokens, len(verified.drafts), done.accepted)
