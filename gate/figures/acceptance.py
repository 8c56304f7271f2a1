"""What became of drafts: the share accepted, tokens committed a block, and the share accepted at each position."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.records.measurement import Arm

MOST_DRAFTED = 10_000
"""Drafts of one block: no forward verifies as many, and a report that states more is not counted out by position."""


@dataclass(frozen=True)
class Acceptance:
    """The three figures of a drafter; `by_position[i]` is the share of drafts at position i that were accepted."""

    rate: float
    committed_per_block: float
    by_position: tuple[float, ...]


def acceptance_of(arm: Arm) -> Acceptance | None:
    """The three acceptance figures, from the per-block rows of every measurement; none if a row lacks them, or if a
    block drafted more than any block can."""
    said = [row.speculation for row in arm.measurements]
    if not said or any(one is None or one.rounds is None for one in said):
        return None
    rounds = [block for one in said if one is not None for block in one.rounds or ()]
    drafted = sum(block.drafted for block in rounds)
    if drafted == 0 or any(block.drafted > MOST_DRAFTED for block in rounds):
        return None
    reached, kept = Counter[int](), Counter[int]()
    for block in rounds:
        reached[block.drafted] += 1
        kept[min(block.accepted, block.drafted)] += 1
    by_position = _shares_by_position(reached, kept)
    accepted = sum(block.accepted for block in rounds)
    return Acceptance(accepted / drafted, sum(block.committed for block in rounds) / len(rounds), by_position)


def _shares_by_position(drafted: Counter[int], accepted: Counter[int]) -> tuple[float, ...]:
    """Of the blocks that drafted more than i tokens, the share that accepted more than i."""
    shares, reached, kept = [], 0, 0
    for position in range(max(drafted) - 1, -1, -1):
        reached, kept = reached + drafted[position + 1], kept + accepted[position + 1]
        shares.append(kept / reached)
    return tuple(reversed(shares))


def committed_per_block(arm: Arm) -> float | None:
    """Tokens a block commits, of the recorded rounds or, where a row lacks them, of the totals; none if unknown."""
    three = acceptance_of(arm)
    if three is not None:
        return three.committed_per_block
    blocks = tokens = 0
    for row in arm.measurements:
        said = row.speculation
        committed = said.committed if said is not None and said.committed is not None else row.decode_tokens
        if said is None or not said.blocks or committed is None:
            return None
        blocks, tokens = blocks + said.blocks, tokens + committed
    return tokens / blocks if blocks else None
