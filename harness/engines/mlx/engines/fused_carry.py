"""The fused engine over native caches: the whole forward is rolled back, committed tokens are carried along.

Rings keep their bound. When a draft is rejected, every cache goes back to its copy from before the block, and what was
committed is fed again in front of the next block, in the same forward.

It restores nothing. A bounded cache lets go of nothing before it is known what was accepted, so there a block is rolled
back without a copy and without a carry: that is `fused` with a restoration.
"""

from typing import Any, ClassVar

import mlx.core as mx

from harness.base.clock import Stopwatch
from harness.engines.acceptance import commit
from harness.engines.base import Block, DecodeLimit
from harness.engines.mlx.engines.speculative import SpeculativeEngine, SpeculativeSession, extend
from harness.engines.mlx.engines.stream_cache import ModelKv
from harness.engines.mlx.verifier.plain_caches import native_caches
from harness.engines.mlx.verifier.rollback import Snapshot
from reports.engines import FUSED_CARRY, EngineKind

CARRY_BLOCKS = 2
"""Blocks' worth of carried tokens after which one block drafts nothing, so that all it feeds is kept."""


class FusedCarryEngine(SpeculativeEngine):
    """Snapshot, roll back everything, carry what was committed."""

    kind: ClassVar[EngineKind] = FUSED_CARRY

    @property
    def rollback(self) -> str:
        """Everything, from a copy."""
        return "snapshot_and_carry"

    def make_kv(self) -> ModelKv:
        """The model's own caches."""
        return ModelKv(self._model, list(native_caches(self._model)))

    def block(self, session: SpeculativeSession, last: int, limit: int, stops: DecodeLimit, watch: Stopwatch) -> Block:
        """Snapshot, draft, verify; on a rejected draft restore and carry, else nothing is left to carry.

        Without a bound a drafter that is always wrong would make the carry, and the forward, grow with the stream.
        """
        if len(session.carry) >= CARRY_BLOCKS * self._spec.block_size:
            limit = 0
        with watch.stage("rollback"):
            snapshots = [Snapshot.take(cache) for cache in caches_of(session)] if limit else []
            mx.eval([snapshot.arrays() for snapshot in snapshots])
        verified = self.verify(session, last, limit, watch)
        done = commit(verified.drafts, verified.choices, stops.stop_tokens)
        carried = session.carry
        with watch.stage("rollback"):
            if len(done.tokens) == 1 + len(verified.drafts):
                session.carry = []
            else:
                for snapshot in snapshots:
                    snapshot.restore()
                session.carry = [*carried, last, *done.tokens[:-1]]
        extend(session.draft, last, verified, done, len(carried), watch)
        return Block(done.tokens, len(verified.drafts), done.accepted)


def caches_of(session: SpeculativeSession) -> list[Any]:
    """The model's own caches, which `make_kv` made."""
    assert isinstance(session.kv, ModelKv)
    return session.kv.caches
