"""Where two streams part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.records.measurement import Measurement


def departure(row: Measurement, other: Measurement) -> int | None:
    """The first token at which two streams differ (also by ending), or character where ids are missing; none if equal.

    Streams of different budgets are not compared beyond the shorter one's length if both ran out of budget.
    """
    ours, theirs = (row.token_ids, other.token_ids)
    if ours is None or theirs is None:
        if row.text is None or other.text is None or row.text == other.text:
            return None
        return next((i for i, (a, b) in enumerate(zip(row.text, other.text, strict=False)) if a != b), 0)
    if ours == theirs:
        return None
    shorter = min(len(ours), len(theirs))
    return next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
