"""From the blocks an engine yielded to the record a row keeps of them."""

from collections.abc import Sequence

from harness.engines.base import Block
from reports.records import measurement

MICROSECOND_DIGITS = 6


def speculation(blocks: Sequence[Block]) -> measurement.Speculation:
    """All blocks of one row, and totals added up from nothing but them; no mean where there are no blocks."""
    rounds = tuple(_round(block) for block in blocks)
    committed = sum(one.committed for one in rounds)
    return measurement.Speculation(
        blocks=len(rounds),
        drafted=sum(one.drafted for one in rounds),
        accepted=sum(one.accepted for one in rounds),
        committed=committed,
        mean_accept_len=committed / len(rounds) if rounds else None,
        accept_len_counts="committed" if rounds else None,
        draft_s=sum((one.draft_s for one in rounds), 0.0),
        verify_s=sum((one.verify_s for one in rounds), 0.0),
        extend_s=sum((one.extend_s for one in rounds), 0.0),
        rollback_s=sum((one.rollback_s for one in rounds), 0.0),
        rounds=rounds,
    )


def _round(block: Block) -> measurement.BlockRecord:
    """What is kept of a block, whose clocks are rounded: it takes milliseconds, and there are thousands in a report."""
    return measurement.BlockRecord(
        drafted=block.drafted,
        accepted=block.accepted,
        committed=len(block.tokens),
        draft_s=round(block.draft_s, MICROSECOND_DIGITS),
        verify_s=round(block.verify_s, MICROSECOND_DIGITS),
        extend_s=round(block.extend_s, MICROSECOND_DIGITS),
        rollback_s=round(block.rollback_s, MICROSECOND_DIGITS),
        seconds=round(block.seconds, MICROSECOND_DIGITS),
    )
