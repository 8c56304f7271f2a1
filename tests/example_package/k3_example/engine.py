"""An engine: the verifier alone, a forward a token, and the largest logit taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

import k3
from k3_example.entries import ENGINE


@dataclass
class GreedySession:
    caches: list[Any]
    first_token: int
    read: int


class GreedyEngine:
    """With `append` and `held` its sessions go on, so that `k3 serve` takes it, too."""

    kind = ENGINE.kind
    restoration = k3.Restoration(mode="none")
    drafter: k3.DrafterInfo | None = None

    def __init__(self, verifier: k3.Verifier, settings: k3.EngineSettings) -> None:
        self._model, self._chunk = verifier.model, settings.prefill_chunk

    def prefill(self, tokens: Sequence[int]) -> GreedySession:
        caches = make_prompt_cache(self._model)
        for start in range(0, len(tokens), self._chunk):
            token = self._next(tokens[start : start + self._chunk], caches)
        return GreedySession(caches, token, len(tokens))

    def append(self, session: GreedySession, tokens: Sequence[int]) -> None:
        for start in range(0, len(tokens), self._chunk):
            part = tokens[start : start + self._chunk]
            session.first_token = self._next(part, session.caches)
            session.read += len(part)

    def held(self, session: GreedySession) -> k3.Held:
        return k3.Held(session.read, dropped=0)

    def decode(self, session: GreedySession, limit: k3.DecodeLimit) -> Iterator[k3.Block]:
        token = session.first_token
        for _ in range(limit.max_new_tokens - 1):
            if token in limit.stop_tokens:
                return
            token = self._next([token], session.caches)
            session.read += 1
            yield k3.Block((token,))

    def stats(self, session: GreedySession) -> k3.SessionCounts:
        """It evicts and restores nothing, and does not look at how large its cache is: K3 then claims no memory."""
        return k3.SessionCounts(0, 0, 0.0, 0.0, kv_bytes=None, fallbacks=())

    def _next(self, tokens: Sequence[int], caches: list[Any]) -> int:
        logits = self._model(mx.array([list(tokens)]), cache=caches)
        return int(mx.argmax(logits[0, -1]).item())
