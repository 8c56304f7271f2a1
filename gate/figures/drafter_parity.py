"""How far two runtimes of a drafter propose the same tokens, counted block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.records.drafter_parity import ParityBlock, ParityResult


def compared(block: ParityBlock) -> int:
    """Positions compared in a block; where one runtime proposed fewer tokens, the missing ones disagree."""
    return max(len(block.reference_tokens), len(block.candidate_tokens))


def disagreements(block: ParityBlock) -> int:
    """Positions of a block at which the two runtimes propose different tokens, or one proposes none."""
    if block.reference_tokens == block.candidate_tokens:
        return 0
    pairs = zip(block.reference_tokens, block.candidate_tokens, strict=False)
    return compared(block) - sum(ours == theirs for ours, theirs in pairs)


def agreement(parity: ParityResult | None) -> float | None:
    """Equal tokens over compared tokens."""
    total = sum(map(compared, parity.blocks)) if parity is not None else 0
    if parity is None or total == 0:
        return None
    return (total - sum(map(disagreements, parity.blocks))) / total
