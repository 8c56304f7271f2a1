"""The incremental engine: prefill once, evicting and restoring K/V as it reads, then decode over that cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.bounded.bounded_verifier import BoundedVerifier
from harness.engines.bounded.cache import EvictingCache
from harness.engines.spec import EngineSettings
from harness.engines.torch.bounded.bound import bound
from harness.engines.torch.engines.ar import ArEngine, NativeSession
from harness.engines.torch.engines.step_loop import step_by_step
from harness.engines.torch.verifier.forward import tokens_on
from harness.engines.torch.verifier.load import Verifier
from reports.engines import INCREMENTAL, EngineKind
from reports.records.measurement import Restoration


@dataclass
class EvictingSession:
    """A prompt read into an evicting cache."""

    bounded: BoundedVerifier
    cache: EvictingCache
    first_token: int


class IncrementalEngine(ArEngine):
    """Restoration `identity`, `ablate` and `f_theta` over an evicting cache; `none` over the model's own, as the oracle
    decodes over it."""

    kind: ClassVar[EngineKind] = INCREMENTAL

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        """Check everything that can be checked before a prompt is read.

        Raises: as `bound`.
        """
        super().__init__(verifier, settings)
        self._bounded = bound(verifier, settings)

    @property
    def restoration(self) -> Restoration:
        """As resolved on this model."""
        return super().restoration if self._bounded is None else self._bounded.restoration

    def prefill(self, tokens: Sequence[int]) -> Session:
        """Read the prompt in chunks, evicting on the way (strict) or at the end (after)."""
        bounded = self._bounded
        if bounded is None:
            return super().prefill(tokens)
        cache = bounded.begin()
        first = self._read(bounded, cache, tokens)
        bounded.end_prompt(cache)
        return EvictingSession(bounded, cache, first)

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them in chunks behind what is there, evicting on the way."""
        if isinstance(session, NativeSession):
            super().append(session, tokens)
            return
        own = _evicting(session)
        if tokens:
            own.bounded.go_on(own.cache)
            own.first_token = self._read(own.bounded, own.cache, tokens)

    def held(self, session: Session) -> Held:
        """As the cache planned it, and as every layer counted it."""
        return super().held(session) if isinstance(session, NativeSession) else _evicting(session).cache.held()

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block; eviction and restoration go on with every step."""
        if isinstance(session, NativeSession):
            return super().decode(session, limit)
        own = _evicting(session)
        return own.cache.telling(step_by_step(own.first_token, lambda token: self._step(own, token), limit))

    def stats(self, session: Session) -> SessionStats:
        """Counters of the cache and its bytes."""
        return super().stats(session) if isinstance(session, NativeSession) else _evicting(session).cache.stats()

    def _read(self, bounded: BoundedVerifier, cache: EvictingCache, tokens: Sequence[int]) -> int:
        """Read `tokens` in chunks; returns what follows them."""
        if not tokens:
            raise EngineError("the prompt is empty; there is nothing to read")
        for start in range(0, len(tokens) - 1, bounded.chunk):
            bounded.read(tokens_on(self._model, tokens[start : min(start + bounded.chunk, len(tokens) - 1)]), cache)
        return int(bounded.backbone.next_token(bounded.read(tokens_on(self._model, tokens[-1:]), cache)))

    def _step(self, own: EvictingSession, token: int) -> int:
        """The greedy token after `token`."""
        own.cache.begin_step()
        backbone = own.bounded.backbone
        return int(backbone.next_token(backbone.run(tokens_on(self._model, [token]), own.cache)))


def _evicting(session: Session) -> EvictingSession:
    if not isinstance(session, EvictingSession):
        raise EngineError(f"{IncrementalEngine.kind.name} was given a session of another engine")
    return session
