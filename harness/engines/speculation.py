"""From the blocks an engine yielded to the record a row keeps of them."""

from collections.abc import Sequence

from harness.engines.base import Block
from reports.records import measurement


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


def _round(block: Block) -> measurement.Block:
    return measurement.Block(
        drafted=block.drafted,
        accepted=block.accepted,
        committed=len(block.tokens),
        draft_s=block.draft_s,
        verify_s=block.verify_s,
        extend_s=block.extend_s,
        rollback_s=block.rollback_s,
        seconds=block.seconds,
    )
