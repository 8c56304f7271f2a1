"""The carrying engine in MLX (`harness.engines.blocks.fused_carry`)."""

from collections.abc import Callable

import mlx.core as mx

from harness.engines.blocks.fused_carry import CarryingBlocks
from harness.engines.blocks.session import SpeculativeSession
from harness.engines.mlx.engines.speculative import SpeculativeEngine
from harness.engines.mlx.engines.stream_cache import ModelKv
from harness.engines.mlx.verifier.plain_caches import native_caches
from harness.engines.mlx.verifier.rollback import Snapshot


class FusedCarryEngine(CarryingBlocks, SpeculativeEngine):
    """Over the model's own caches."""

    def make_kv(self) -> ModelKv:
        """The model's own caches."""
        return ModelKv(self._model, list(native_caches(self._model)))

    def snapshot(self, session: SpeculativeSession) -> Callable[[], None]:
        """Copies, evaluated."""
        assert isinstance(session.kv, ModelKv)
        snapshots = [Snapshot.take(cache) for cache in session.kv.caches]
        mx.eval([one.arrays() for one in snapshots])

        def restore() -> None:
            for one in snapshots:
                one.restore()

        return restore
