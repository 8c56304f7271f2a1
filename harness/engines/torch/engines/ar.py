"""The AR oracle: the verifier alone over its own cache, one forward a token, greedy.

The same tokens come from transformers' `generate`, which a test holds it to; that loop adds logits processors and
stopping criteria to every step, and cannot be asked when the first token was known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from transformers import DynamicCache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.spec import EngineSettings
from harness.engines.torch.engines.step_loop import step_by_step
from harness.engines.torch.verifier.forward import kv_bytes, native_cache, positions_read, prefill, step
from harness.engines.torch.verifier.load import Verifier
from reports.engines import ORACLE, TORCH, EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class NativeSession:
    """A prompt read into the model's own cache, and the engine that reads it."""

    engine: str
    cache: DynamicCache
    first_token: int


class ArEngine:
    """Greedy decoding with nothing of ours in the way; run a second time it is the null arm."""

    kind: ClassVar[EngineKind] = ORACLE.on(TORCH)

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        self._model: Any = verifier.model
        self._chunk = settings.prefill_chunk

    @property
    def restoration(self) -> Restoration:
        """None."""
        return Restoration(mode="none")

    @property
    def drafter(self) -> DrafterInfo | None:
        """None."""
        return None

    def prefill(self, tokens: Sequence[int]) -> Session:
        """Read the prompt in chunks into the model's own cache."""
        cache = native_cache(self._model)
        return NativeSession(self.kind.name, cache, prefill(self._model, cache, tokens, self._chunk))

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them as a prompt is read, into the same cache."""
        own = self._own(session)
        if tokens:
            own.first_token = prefill(self._model, own.cache, tokens, self._chunk)

    def held(self, session: Session) -> Held:
        """Nothing is dropped but what the model's own windows drop."""
        return Held(positions_read(self._own(session).cache), 0)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block."""
        own = self._own(session)
        return step_by_step(own.first_token, lambda token: step(self._model, own.cache, token), limit)

    def stats(self, session: Session) -> SessionStats:
        """Bytes of the cache; nothing is ever evicted by us."""
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(self._own(session).cache), ())

    def _own(self, session: Session) -> NativeSession:
        if not isinstance(session, NativeSession) or session.engine != self.kind.name:
            raise EngineError(f"{self.kind.name} was given a session of another engine")
        return session
