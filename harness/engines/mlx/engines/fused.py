"""The fused engine in MLX (`harness.engines.blocks.fused`)."""

from harness.engines.blocks.fused import FusedBlocks
from harness.engines.mlx.engines.speculative import SpeculativeEngine
from harness.engines.mlx.engines.stream_cache import ModelKv
from harness.engines.mlx.verifier.plain_caches import plain_caches


class FusedEngine(FusedBlocks, SpeculativeEngine):
    """Over plain caches of mlx-lm, or a bounded one."""

    def plain_kv(self) -> ModelKv:
        """Plain caches in every layer."""
        return ModelKv(self._model, list(plain_caches(self._model)))
