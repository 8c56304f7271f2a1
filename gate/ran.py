"""What really ran in a row, derived from counts and times; a flag is believed only where nothing disproves it.

Each function answers True, False, or None where the row does not say.
"""

from gate import thresholds
from reports.measurement import Arm, Measurement


def restored(arm: Arm, row: Measurement) -> bool | None:
    """K/V were put back at evicted positions: the flag says so, positions were counted, and it took time."""
    if row.restoration_active is not True:
        return row.restoration_active
    if row.restored_positions == 0 or (row.restoration_s is not None and took_no_time(arm, row)):
        return False
    if arm.restoration is not None and arm.restoration.mode in ("none", "ablate"):
        return False
    return True if row.restored_positions is not None or row.restoration_s is not None else None


def took_no_time(arm: Arm, row: Measurement) -> bool:
    """The seconds of restoration are too few for the positions outside sink + window."""
    assert row.restoration_s is not None
    return row.restoration_s <= least_restoration_s(arm, row)


def least_restoration_s(arm: Arm, row: Measurement) -> float:
    """Seconds that restoring this row's evicted token positions at least takes; 0 where their number is unknown."""
    kept = arm.restoration
    sink_window = (kept.sink or 0) + (kept.window or 0) if kept is not None else 0
    positions = max(0, (row.prompt_tokens or 0) - sink_window)
    return positions * thresholds.RESTORATION_S_PER_POSITION


def drafted(row: Measurement) -> bool | None:
    """Tokens were proposed: they were counted, or more was committed than one token a block."""
    said = row.speculation
    if said is None:
        return None
    if said.rounds is not None:
        return any(block.drafted for block in said.rounds)
    if said.blocks == 0:
        return False
    if said.drafted is not None:
        return said.drafted > 0
    if said.accepted:
        return True
    if said.blocks is not None and said.committed is not None:
        return True if said.committed > said.blocks else None
    return None


def blocks(row: Measurement) -> int | None:
    """Draft + verify rounds of a row: the recorded rounds, else the stated number."""
    said = row.speculation
    if said is None:
        return None
    return len(said.rounds) if said.rounds is not None else said.blocks


def natively(arm: Arm) -> bool:
    """Every row is known to have run without restoration and without drafting: the verifier's own computation."""
    return bool(arm.measurements) and all(_native(arm, row) for row in arm.measurements)


def _native(arm: Arm, row: Measurement) -> bool:
    drafts = drafted(row) if row.speculation is not None or arm.drafter is not None else False
    return restored(arm, row) is False and drafts is False
