"""Which of two proposers to ask next, from what each was worth in this stream. Pure: on ints and floats.

Lookup is judged by the length of its match, since a long one continues rightly far more often than a single token.
"""

from dataclasses import dataclass, field

DFLASH = -1
"""The source that is no match of any length."""
EXPECTED = {DFLASH: 2.5, 1: 2.5, 2: 3.5, 3: 5.0}
"""Tokens a block that a stream begins by expecting, by source: what code streams gave, for blocks of 8."""
PACE = 0.2
"""Weight of the newest block."""
HANDICAP = 0.25
"""Tokens by which DFlash must be better, since it costs a forward and lookup nothing."""


@dataclass
class Preference:
    """Running means of the tokens a block committed, by source."""

    expected: dict[int, float] = field(default_factory=lambda: dict(EXPECTED))

    def source(self, matched: int) -> int:
        """`matched` if the continuation of that match is to be proposed, else DFLASH."""
        if matched == 0:
            return DFLASH
        lookup = self.expected.get(matched, self.expected[max(EXPECTED)])
        return matched if lookup + HANDICAP >= self.expected[DFLASH] else DFLASH

    def learn(self, source: int, committed: int) -> None:
        """A block from `source` committed so many tokens, the verifier's own included."""
        known = self.expected.get(source, self.expected[max(EXPECTED)])
        self.expected[source] = known + PACE * (committed - known)
