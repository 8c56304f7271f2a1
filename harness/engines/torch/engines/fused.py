"""The fused engine in PyTorch (`harness.engines.blocks.fused`)."""

from harness.engines.blocks.fused import FusedBlocks
from harness.engines.torch.engines.speculative import SpeculativeEngine
from harness.engines.torch.engines.stream_cache import ModelKv
from harness.engines.torch.verifier.forward import plain_cache


class FusedEngine(FusedBlocks, SpeculativeEngine):
    """Over a cache that holds every position, or a bounded one."""

    def plain_kv(self) -> ModelKv:
        """Every position in every layer."""
        return ModelKv(self._model, plain_cache())
