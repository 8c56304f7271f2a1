"""The verifier's K/V of one stream, as block engines use them: read, verify a block, keep what was accepted."""

from dataclasses import dataclass
from typing import Any, Protocol

import mlx.core as mx

from harness.engines.base import Held, SessionStats
from harness.engines.mlx.bounded.bounded_verifier import BoundedVerifier
from harness.engines.mlx.bounded.cache import EvictingCache
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.native import positions_read
from harness.engines.mlx.verifier.rollback import trim


class VerifierKv(Protocol):
    """One way to hold them, with the forward that goes through it."""

    def read(self, part: mx.array) -> mx.array:
        """Read a chunk (1, L) of the prompt; its logits, (1, L, vocabulary), are not evaluated, its K/V are."""
        ...

    def end_prompt(self) -> None:
        """The whole prompt was read."""
        ...

    def verify(self, block: mx.array) -> mx.array:
        """Logits after every token of a block (1, L), not evaluated."""
        ...

    def pending(self) -> list[object]:
        """What `verify` made besides logits, to be evaluated with them."""
        ...

    def keep(self, read: int, kept: int) -> None:
        """Of the `read` tokens of the latest block, evaluated by now, keep the first `kept`, exactly.

        Raises:
            EngineError: it cannot be rolled back.
        """
        ...

    def go_on(self) -> None:
        """Blocks were decoded; more is about to be read."""
        ...

    def held(self) -> Held:
        """Positions read and kept, and those evicted."""
        ...

    def stats(self) -> SessionStats:
        """What was counted, and the bytes held now."""
        ...


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


@dataclass(frozen=True)
class BoundedKv:
    """A bounded cache: what a block evicts leaves, and what it restores is written, once it is known what stays."""

    bounded: BoundedVerifier
    cache: EvictingCache

    def read(self, part: mx.array) -> mx.array:
        """Evicting and restoring on the way."""
        return self.bounded.backbone.logits(self.bounded.read(part, self.cache))

    def end_prompt(self) -> None:
        """Evict what was to be evicted after it."""
        self.bounded.end_prompt(self.cache)

    def verify(self, block: mx.array) -> mx.array:
        """Every query sees what it would have seen in a step of its own."""
        self.cache.begin_block(block.shape[1])
        return self.bounded.backbone.logits(self.bounded.backbone.run(block, self.cache))

    def pending(self) -> list[object]:
        """Restored K/V to be written, and features."""
        return self.cache.remade()

    def keep(self, read: int, kept: int) -> None:
        """Settle as though only the kept ones had been read."""
        self.cache.accept(kept)

    def go_on(self) -> None:
        """The room that blocks needed is given back."""
        self.bounded.go_on(self.cache)

    def held(self) -> Held:
        """As the cache says."""
        return self.cache.held()

    def stats(self) -> SessionStats:
        """What the cache counted."""
        return self.cache.stats()
