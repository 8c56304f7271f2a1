"""The carrying engine in PyTorch (`harness.engines.blocks.fused_carry`)."""

from collections.abc import Callable

from harness.engines.blocks.fused_carry import CarryingBlocks
from harness.engines.blocks.session import SpeculativeSession
from harness.engines.torch.engines.speculative import SpeculativeEngine
from harness.engines.torch.engines.stream_cache import ModelKv
from harness.engines.torch.verifier.forward import native_cache, snapshot


class FusedCarryEngine(CarryingBlocks, SpeculativeEngine):
    """Over the model's own cache."""

    def make_kv(self) -> ModelKv:
        """Sliding layers hold no more than their window."""
        return ModelKv(self._model, native_cache(self._model))

    def snapshot(self, session: SpeculativeSession) -> Callable[[], None]:
        """Nothing is copied: transformers makes new tensors in every forward."""
        assert isinstance(session.kv, ModelKv)
        return snapshot(session.kv.cache)
