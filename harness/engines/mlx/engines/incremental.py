"""The incremental engine: prefill once, evicting and restoring K/V as it reads, then decode over that cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Session, SessionStats
from harness.engines.mlx.bounded.bounded_verifier import BoundedVerifier, bound
from harness.engines.mlx.bounded.cache import EvictingCache
from harness.engines.mlx.engines.native_baseline import NativeSession
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import chunks, native_prefill, native_step
from harness.engines.mlx.verifier.step_loop import step_loop, token_of
from harness.engines.spec import EngineSettings
from reports.engines import INCREMENTAL, EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class EvictingSession:
    """A prompt read into an evicting cache; `first` is the first token, (1,)."""

    bounded: BoundedVerifier
    cache: EvictingCache
    first: mx.array

    @property
    def first_token(self) -> int:
        """The token that came out of prefill."""
        return token_of(self.first)


class IncrementalEngine:
    """Restoration `identity`, `ablate` and `f_theta` over an evicting cache; `none` over the model's own caches."""

    kind: ClassVar[EngineKind] = INCREMENTAL

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        """Check everything that can be checked before a prompt is read.

        Raises: as `bound`.
        """
        self._model = verifier.model
        self._chunk = settings.prefill_chunk
        self._bounded = bound(verifier, settings)

    @property
    def restoration(self) -> Restoration:
        """As resolved on this model."""
        return Restoration(mode="none") if self._bounded is None else self._bounded.restoration

    @property
    def drafter(self) -> DrafterInfo | None:
        """None."""
        return None

    def prefill(self, tokens: Sequence[int]) -> EvictingSession | NativeSession:
        """Read the prompt in chunks, evicting on the way (strict) or at the end (after)."""
        bounded = self._bounded
        if bounded is None:
            caches = make_prompt_cache(self._model)
            return NativeSession(caches, native_prefill(self._model, caches, tokens, self._chunk))
        cache = bounded.begin()
        for part in chunks(tokens, bounded.chunk):
            bounded.read(part, cache)
        first = bounded.backbone.next_token(bounded.read(mx.array([[tokens[-1]]]), cache))
        mx.eval(first)
        bounded.end_prompt(cache)
        return EvictingSession(bounded, cache, first)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block; eviction and restoration go on with every step."""
        if isinstance(session, NativeSession):
            caches = session.caches
            return step_loop(session.first, lambda token: native_step(self._model, caches, token), limit)
        own = _own(session)
        return step_loop(own.first, lambda token: _step(token, own), limit)

    def stats(self, session: Session) -> SessionStats:
        """Counters of the cache and its bytes."""
        if isinstance(session, NativeSession):
            return SessionStats(0, 0, 0.0, 0.0, kv_bytes(session.caches), ())
        return _own(session).cache.stats()


def _step(token: mx.array, session: EvictingSession) -> mx.array:
    """The greedy token after `token` (1,), dispatched but not waited for."""
    cache, backbone = session.cache, session.bounded.backbone
    cache.begin_step()
    upcoming = backbone.next_token(backbone.run(token[None], cache))
    mx.async_eval(cache.remade(), upcoming)
    return upcoming


def _own(session: Session) -> EvictingSession:
    if not isinstance(session, EvictingSession):
        raise EngineError(f"{IncrementalEngine.kind.name} was given a session of another engine")
    return session
