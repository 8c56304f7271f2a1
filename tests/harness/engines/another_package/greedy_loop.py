"""An engine as another package would bring it: the verifier alone, a forward a token, and the largest logit taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Session, SessionStats
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import EngineSettings
from reports.engines import EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class GreedySession:
    caches: list[Any]
    first_token: int


class GreedyLoopEngine:
    kind: ClassVar[EngineKind] = EngineKind("greedy-loop", "greedy_loop_step")

    restoration = Restoration(mode="none")
    drafter: DrafterInfo | None = None

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        self._model, self._chunk = verifier.model, settings.prefill_chunk

    def prefill(self, tokens: Sequence[int]) -> GreedySession:
        caches = make_prompt_cache(self._model)
        for start in range(0, len(tokens), self._chunk):
            token = self._next(tokens[start : start + self._chunk], caches)
        return GreedySession(caches, token)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        own, token = _own(session), session.first_token
        for _ in range(limit.max_new_tokens - 1):
            if token in limit.stop_tokens:
                return
            token = self._next([token], own.caches)
            yield Block((token,))

    def stats(self, session: Session) -> SessionStats:
        held = sum(array.nbytes for cache in _own(session).caches for array in (cache.keys, cache.values))
        return SessionStats(0, 0, 0.0, 0.0, held, ())

    def _next(self, tokens: Sequence[int], caches: list[Any]) -> int:
        logits = self._model(mx.array([list(tokens)]), cache=caches)
        return int(mx.argmax(logits[0, -1]).item())


def _own(session: Session) -> GreedySession:
    if not isinstance(session, GreedySession):
        raise EngineError("greedy-loop was given a session of another engine")
    return session
