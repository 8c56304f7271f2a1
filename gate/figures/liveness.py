"""What really ran in a row, derived from counts and times; a flag is believed only where nothing disproves it.

Each function answers True, False, or None where the row does not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.rulebook.report_view import drafts, restores
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


def did_restore(arm: Arm, row: Measurement) -> bool | None:
    """K/V were put back at evicted positions: the flag says so, positions were counted, and it took time.

    Where positions were not counted (imports), capturing features and drafting leave open whether restoration ran;
    without them, no time means that it did not.
    """
    if row.restoration_active is not True:
        return row.restoration_active
    if row.restored_positions == 0 or (arm.restoration is not None and not restores(arm)):
        return False
    if row.restoration_s is None:
        return None
    least = least_restoration_s(arm, row)
    if row.restored_positions is not None or row.restoration_s > least:
        return row.restoration_s > least
    idle = row.restoration_s + (row.aux_s or 0.0) <= least and not block_count(row)
    return False if idle else None


def least_restoration_s(arm: Arm, row: Measurement) -> float:
    """Seconds that restoring this row's evicted token positions at least takes; 0 where their number is unknown."""
    kept = arm.restoration
    sink_window = (kept.sink or 0) + (kept.window or 0) if kept is not None else 0
    positions = max(0, (row.prompt_tokens or 0) - sink_window)
    return positions * RESTORATION_S_PER_POSITION.value


def did_draft(row: Measurement) -> bool | None:
    """Tokens were proposed: they were counted, or more came out than one token a block."""
    said = row.speculation
    if said is None:
        return None
    if said.rounds is not None:
        return any(block.drafted for block in said.rounds)
    if said.blocks == 0:
        return False
    if said.drafted is not None:
        return said.drafted > 0
    tokens = said.committed if said.committed is not None else row.decode_tokens
    if said.accepted or (said.blocks is not None and tokens is not None and tokens > said.blocks + 1):
        return True
    return None


def block_count(row: Measurement) -> int | None:
    """Draft + verify rounds of a row: the recorded rounds, else the stated number."""
    said = row.speculation
    if said is None:
        return None
    return len(said.rounds) if said.rounds is not None else said.blocks


def ran_natively(arm: Arm) -> bool:
    """Every row is known to have run without restoration and without drafting: the verifier's own computation.

    An arm that is meant to drop K/V and did (a bounded cache with nothing put back) is not the native one.
    """
    return bool(arm.measurements) and all(_native(arm, row) for row in arm.measurements)


def _native(arm: Arm, row: Measurement) -> bool:
    may_draft = row.speculation is not None or drafts(arm)
    if did_restore(arm, row) is not False or (may_draft and did_draft(row) is not False):
        return False
    return not (arm.restoration is not None and arm.restoration.mode == "ablate" and row.evicted_positions)
