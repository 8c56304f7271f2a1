"""Decoding one prompt many times: a session's caches copied, so that the prompt is read once."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx

from harness.base.errors import EngineError
from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.engines.speculative import SpeculativeSession
from harness.engines.mlx.engines.stream_cache import ModelKv


def copy_cache(cache: Any) -> Any:
    """A cache of the same class and state whose arrays nobody else writes into."""
    copy = object.__new__(type(cache))
    for name, value in vars(cache).items():
        setattr(copy, name, mx.array(value) if isinstance(value, mx.array) else value)
    return copy


def fork(session: SpeculativeSession, drafter: Drafter, prompt: Sequence[int]) -> SpeculativeSession:
    """A session as `prefill(prompt)` of an engine of the same name would have left it with `drafter`.

    `session` is a prefilled one that nothing was decoded from yet; it stays so.

    Raises:
        EngineError: the drafter reads hidden states, which no cache keeps, or the cache is a bounded one.
    """
    if not isinstance(session.kv, ModelKv):
        raise EngineError(f"a session of {session.engine} over a bounded cache cannot be copied; read its prompt again")
    if drafter.layers:
        raise EngineError(f"drafter {drafter.name} reads hidden states; its prompt must be read again")
    caches = [copy_cache(cache) for cache in session.kv.caches]
    mx.eval([value for cache in caches for value in vars(cache).values() if isinstance(value, mx.array)])
    draft = drafter.begin()
    draft.extend(list(prompt), None)
    kv = ModelKv(session.kv.model, caches)
    return SpeculativeSession(session.engine, kv, draft, session.first_token, 0.0, list(session.carry))
