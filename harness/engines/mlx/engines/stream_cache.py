"""The verifier's K/V of one stream over mlx-lm's own forward and caches."""

from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from harness.engines.base import Held, SessionStats
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.native import positions_read
from harness.engines.mlx.verifier.rollback import trim


@dataclass(frozen=True)
class ModelKv:
    """mlx-lm's forward and caches: everything is kept, and what a block adds can be trimmed."""

    model: Any
    caches: list[Any]

    def read(self, part: mx.array) -> mx.array:
        """Through the model's own forward."""
        logits = self.verify(part)
        mx.eval([cache.state for cache in self.caches])
        return logits

    def end_prompt(self) -> None:
        """Nothing is left to do."""

    def verify(self, block: mx.array) -> mx.array:
        """Through the model's own forward."""
        logits: mx.array = self.model(block, cache=self.caches)
        return logits

    def pending(self) -> list[object]:
        """Nothing."""
        return []

    def keep(self, read: int, kept: int) -> None:
        """Trim the others."""
        trim(self.caches, read - kept)

    def go_on(self) -> None:
        """Nothing is to be made ready."""

    def held(self) -> Held:
        """Nothing is evicted."""
        return Held(positions_read(self.caches), 0)

    def stats(self) -> SessionStats:
        """Nothing is evicted or restored."""
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(self.caches), ())
