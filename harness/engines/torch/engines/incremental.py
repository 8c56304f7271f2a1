"""The incremental engine: prefill once, evicting and restoring K/V as it reads, then decode over that cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from transformers import DynamicCache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.bounded.bounded_verifier import BoundedVerifier
from harness.engines.bounded.cache import EvictingCache
from harness.engines.spec import EngineSettings
from harness.engines.torch.bounded.bound import bound
from harness.engines.torch.engines.step_loop import step_by_step
from harness.engines.torch.verifier.forward import kv_bytes, native_cache, positions_read, prefill, step, tokens_on
from harness.engines.torch.verifier.load import Verifier
from reports.engines import INCREMENTAL, EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class IncrementalSession:
    """A prompt read into an evicting cache, or into the model's own where nothing is evicted."""

    cache: EvictingCache | DynamicCache
    first_token: int


class IncrementalEngine:
    """Restoration `identity`, `ablate` and `f_theta` over an evicting cache; `none` over the model's own."""

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

    def prefill(self, tokens: Sequence[int]) -> IncrementalSession:
        """Read the prompt in chunks, evicting on the way (strict) or at the end (after)."""
        bounded = self._bounded
        if bounded is None:
            native = native_cache(self._model)
            return IncrementalSession(native, prefill(self._model, native, tokens, self._chunk))
        cache = bounded.begin()
        first = self._read(bounded, cache, tokens)
        bounded.end_prompt(cache)
        return IncrementalSession(cache, first)

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them in chunks behind what is there, evicting on the way."""
        own, bounded = _own(session), self._bounded
        if not tokens:
            return
        if bounded is None or not isinstance(own.cache, EvictingCache):
            own.first_token = prefill(self._model, own.cache, tokens, self._chunk)
            return
        bounded.go_on(own.cache)
        own.first_token = self._read(bounded, own.cache, tokens)

    def held(self, session: Session) -> Held:
        """As the cache planned it, and as every layer counted it."""
        cache = _own(session).cache
        return cache.held() if isinstance(cache, EvictingCache) else Held(positions_read(cache), 0)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block; eviction and restoration go on with every step."""
        own, bounded = _own(session), self._bounded
        cache = own.cache
        if bounded is None or not isinstance(cache, EvictingCache):
            return step_by_step(own.first_token, lambda token: step(self._model, cache, token), limit)
        return step_by_step(own.first_token, lambda token: self._step(bounded, cache, token), limit)

    def stats(self, session: Session) -> SessionStats:
        """Counters of the cache and its bytes."""
        cache = _own(session).cache
        if isinstance(cache, EvictingCache):
            return cache.stats()
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(cache), ())

    def _read(self, bounded: BoundedVerifier, cache: EvictingCache, tokens: Sequence[int]) -> int:
        """Read `tokens` in chunks; returns what follows them."""
        if not tokens:
            raise EngineError("the prompt is empty; there is nothing to read")
        for start in range(0, len(tokens) - 1, bounded.chunk):
            bounded.read(tokens_on(self._model, tokens[start : min(start + bounded.chunk, len(tokens) - 1)]), cache)
        return int(bounded.backbone.next_token(bounded.read(tokens_on(self._model, tokens[-1:]), cache)))

    def _step(self, bounded: BoundedVerifier, cache: EvictingCache, token: int) -> int:
        """The greedy token after `token`."""
        cache.begin_step()
        return int(bounded.backbone.next_token(bounded.backbone.run(tokens_on(self._model, [token]), cache)))


def _own(session: Session) -> IncrementalSession:
    if not isinstance(session, IncrementalSession):
        raise EngineError(f"{IncrementalEngine.kind.name} was given a session of another engine")
    return session
