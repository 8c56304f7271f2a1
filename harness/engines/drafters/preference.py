"""Which of two proposers to ask next, and how far ahead, from what each was worth in this stream. No tensors.

Lookup is judged by the length of its match, since a long one continues rightly far more often than a single token.
The numbers were chosen on 18 streams of SmolLM2 that no preset asks for, 6 of them seen in its drafter's training; that
DFlash too may reach further came from 3 prompts of the preset code-dflash-tiny.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

DFLASH = -1
"""The source that is no match of any length."""
EXPECTED: Mapping[int, float] = MappingProxyType({DFLASH: 2.0, 1: 2.5, 2: 2.5, 3: 4.0})
"""Tokens a block that a stream begins by expecting, by source."""
PACE = 0.2
"""Weight of the newest block."""
REACHES = (7, 11, 15)
"""Drafts of a lookup: at first, after one that was right to its end, after two and more in a row."""
DFLASH_REACHES = (4, 7)
"""The same of a DFlash block, whose later drafts are right too seldom at first for what reading them costs."""

SURE = 0.2
"""Least probability, by the drafter itself, that all drafts of a DFlash block are right: it is cut to what reaches it,
to nothing where the first draft does not. Chosen of 0, 0.2, 0.3, 0.4 and 0.5 on 14 streams of SmolLM2 that no preset
asks for, 8 of them of modules that its drafter never saw, by tokens over the cost of the blocks they took."""


@dataclass
class Preference:
    """Running means of the tokens a block committed, by source, and how many lookups and how many DFlash blocks in a
    row were right to their end."""

    expected: dict[int, float] = field(default_factory=lambda: dict(EXPECTED))
    lookups_right: int = 0
    dflash_right: int = 0

    def source(self, matched: int) -> int:
        """`matched` if the continuation of that match is to be proposed, else DFLASH."""
        return matched if matched and self.expected[matched] >= self.expected[DFLASH] else DFLASH

    def drafts(self, source: int) -> int:
        """How many drafts are worth reading."""
        reaches, right = (DFLASH_REACHES, self.dflash_right) if source == DFLASH else (REACHES, self.lookups_right)
        return reaches[min(right, len(reaches) - 1)]

    def learn(self, source: int, drafted: int, accepted: int) -> None:
        """A block from `source` is over."""
        committed = min(accepted, REACHES[0]) + 1
        self.expected[source] += PACE * (committed - self.expected[source])
        right = 0 < drafted == accepted
        if source == DFLASH:
            self.dflash_right = self.dflash_right + 1 if right else 0
        else:
            self.lookups_right = self.lookups_right + 1 if right else 0
