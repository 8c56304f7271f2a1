"""The incremental engine: prefill once, evicting and restoring K/V as it reads, then decode over that cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.bounded.bounded_verifier import BoundedVerifier
from harness.engines.bounded.cache import EvictingCache
from harness.engines.mlx.bounded.bound import bound
from harness.engines.mlx.engines.native_baseline import NativeSession, native_append, native_decode
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import chunks, native_prefill, positions_read
from harness.engines.mlx.verifier.step_loop import step_loop, token_of
from harness.engines.spec import EngineSettings
from reports.engines import INCREMENTAL, EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class EvictingSession:
    """A prompt read into an evicting cache; `first` is the first token, `ahead` the latest step's, (1,) each."""

    bounded: BoundedVerifier
    cache: EvictingCache
    first: mx.array
    ahead: mx.array | None = None

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
        first = _read(bounded, cache, tokens)
        bounded.end_prompt(cache)
        return EvictingSession(bounded, cache, first)

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them in chunks behind what is there, evicting on the way."""
        if isinstance(session, NativeSession):
            native_append(self._model, session, tokens, self._chunk)
            return
        own = _own(session)
        if tokens:
            own.bounded.go_on(own.cache)
            own.first = _read(own.bounded, own.cache, tokens)
        elif own.ahead is not None:
            own.first = own.ahead
            own.cache.take_ahead()
        own.ahead = None

    def held(self, session: Session) -> Held:
        """As the cache planned it, and as every layer counted it."""
        if isinstance(session, NativeSession):
            return Held(positions_read(session.caches), 0)
        return _own(session).cache.held()

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block; eviction and restoration go on with every step."""
        if isinstance(session, NativeSession):
            return native_decode(self._model, session, limit)
        own = _own(session)
        return own.cache.telling(step_loop(own.first, lambda token: _step(token, own), limit))

    def stats(self, session: Session) -> SessionStats:
        """Counters of the cache and its bytes."""
        if isinstance(session, NativeSession):
            return SessionStats(0, 0, 0.0, 0.0, kv_bytes(session.caches), ())
        return _own(session).cache.stats()


def _read(bounded: BoundedVerifier, cache: EvictingCache, tokens: Sequence[int]) -> mx.array:
    """Read `tokens` in chunks; returns what follows them, evaluated, shape (1,)."""
    for part in chunks(tokens, bounded.chunk):
        bounded.read(part, cache)
    first = bounded.backbone.next_token(bounded.read(mx.array([[tokens[-1]]]), cache))
    mx.eval(first)
    return first


def _step(token: mx.array, session: EvictingSession) -> mx.array:
    """The greedy token after `token` (1,), dispatched but not waited for."""
    cache, backbone = session.cache, session.bounded.backbone
    cache.begin_step()
    upcoming = backbone.next_token(backbone.run(token[None], cache))
    mx.async_eval(cache.remade(), upcoming)
    session.ahead = upcoming
    return upcoming


def _own(session: Session) -> EvictingSession:
    if not isinstance(session, EvictingSession):
        raise EngineError(f"{IncrementalEngine.kind.name} was given a session of another engine")
    return session
