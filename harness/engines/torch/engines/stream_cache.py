"""The verifier's K/V of one stream over transformers' own forward and cache."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from transformers import DynamicCache

from harness.engines.base import Held, SessionStats
from harness.engines.torch.verifier.forward import kv_bytes, logits_after, positions_read, trim


@dataclass(frozen=True)
class ModelKv:
    """Everything is kept but what the cache's own layout drops."""

    model: Any
    cache: DynamicCache

    def read(self, part: Tensor) -> Tensor:
        """Through the model's own forward; logits after the last token alone."""
        return logits_after(self.model, self.cache, part, last=1)

    def end_prompt(self) -> None:
        """Nothing is left to do."""

    def verify(self, block: Tensor) -> Tensor:
        """Through the model's own forward."""
        return logits_after(self.model, self.cache, block)

    def pending(self) -> list[object]:
        """Nothing: it is being computed already."""
        return []

    def keep(self, read: int, kept: int) -> None:
        """Trim the others."""
        trim(self.cache, read - kept)

    def go_on(self) -> None:
        """Nothing is to be made ready."""

    def held(self) -> Held:
        """Nothing is evicted."""
        return Held(positions_read(self.cache), 0)

    def stats(self) -> SessionStats:
        """Nothing is evicted or restored."""
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(self.cache), ())
