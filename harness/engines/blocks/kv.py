"""The verifier's K/V of one stream, as block engines use them: read, verify a block, keep what was accepted."""

from dataclasses import dataclass
from typing import Protocol

from harness.engines.base import Held, SessionStats
from harness.engines.bounded.arrays import Array
from harness.engines.bounded.bounded_verifier import BoundedVerifier
from harness.engines.bounded.cache import EvictingCache


class VerifierKv(Protocol):
    """One way to hold them, with the forward that goes through it."""

    def read(self, part: Array) -> Array:
        """Read a chunk (1, L) of the prompt; its logits, (1, L, vocabulary), are not evaluated, its K/V are."""
        ...

    def end_prompt(self) -> None:
        """The whole prompt was read."""
        ...

    def verify(self, block: Array) -> Array:
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
class BoundedKv:
    """A bounded cache: what a block evicts leaves, and what it restores is written, once it is known what stays."""

    bounded: BoundedVerifier
    cache: EvictingCache

    def read(self, part: Array) -> Array:
        """Evicting and restoring on the way."""
        return self.bounded.backbone.logits(self.bounded.read(part, self.cache))

    def end_prompt(self) -> None:
        """Evict what was to be evicted after it."""
        self.bounded.end_prompt(self.cache)

    def verify(self, block: Array) -> Array:
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
