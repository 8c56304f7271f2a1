"""A stream's cache of transformers, copied."""

import copy

from harness.base.errors import EngineError
from harness.engines.blocks.kv import VerifierKv
from harness.engines.torch.engines.stream_cache import ModelKv


def copy_kv(kv: VerifierKv) -> ModelKv:
    """The same K/V in a cache of its own; transformers makes new tensors in every forward, so none is copied.

    Raises:
        EngineError: the cache is a bounded one.
    """
    if not isinstance(kv, ModelKv):
        raise EngineError("a session over a bounded cache cannot be copied; read its prompt again")
    cache = copy.copy(kv.cache)
    cache.layers = [copy.copy(layer) for layer in kv.cache.layers]
    return ModelKv(kv.model, cache)
