"""The native baseline: the verifier alone, with its own cache and a plain step loop. No restoration, no drafting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import native_prefill, native_step, positions_read
from harness.engines.mlx.verifier.step_loop import step_loop, token_of
from harness.engines.spec import EngineSettings
from reports.engines import NATIVE_BASELINE, EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class NativeSession:
    """A prompt read into the model's own caches; `first` is the first token, `ahead` the latest step's, (1,) each."""

    caches: list[Any]
    first: mx.array
    ahead: mx.array | None = None

    @property
    def first_token(self) -> int:
        """The token that came out of prefill."""
        return token_of(self.first)


class NativeBaselineEngine:
    """What an arm labelled `native_ar_baseline` runs."""

    kind: ClassVar[EngineKind] = NATIVE_BASELINE

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        self._model = verifier.model
        self._chunk = settings.prefill_chunk

    @property
    def restoration(self) -> Restoration:
        """None."""
        return Restoration(mode="none")

    @property
    def drafter(self) -> DrafterInfo | None:
        """None."""
        return None

    def prefill(self, tokens: Sequence[int]) -> NativeSession:
        """Read the prompt in chunks into the model's own caches."""
        caches = make_prompt_cache(self._model)
        return NativeSession(caches, native_prefill(self._model, caches, tokens, self._chunk))

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block."""
        return native_decode(self._model, native_session(session, self.kind.name), limit)

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them as a prompt is read, into the same caches."""
        native_append(self._model, native_session(session, self.kind.name), tokens, self._chunk)

    def held(self, session: Session) -> Held:
        """Nothing is dropped but what the model's own windows drop."""
        return Held(positions_read(native_session(session, self.kind.name).caches), 0)

    def stats(self, session: Session) -> SessionStats:
        """Bytes of the caches; nothing is ever evicted by us."""
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(native_session(session, self.kind.name).caches), ())


def native_decode(model: Any, session: NativeSession, limit: DecodeLimit) -> Iterator[Block]:
    """One token a block."""

    def step(token: mx.array) -> mx.array:
        session.ahead = native_step(model, session.caches, token)
        return session.ahead

    return step_loop(session.first, step, limit)


def native_append(model: Any, session: NativeSession, tokens: Sequence[int], chunk: int) -> None:
    """Read `tokens` behind what the caches hold; without any, go on from the step that ran ahead."""
    if tokens:
        session.first = native_prefill(model, session.caches, tokens, chunk)
    elif session.ahead is not None:
        session.first = session.ahead
    session.ahead = None


def native_session(session: Session, engine: str) -> NativeSession:
    """The session as this engine made it.

    Raises:
        EngineError: another engine made it.
    """
    if not isinstance(session, NativeSession):
        raise EngineError(f"{engine} was given a session of another engine")
    return session
