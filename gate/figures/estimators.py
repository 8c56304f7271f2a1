"""Figures that other tools print, by every honest estimator: which of them a tool used is not always said.

Ratios of rates are formed of totals, of medians, of means, or as median or mean of the paired ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.figures.statistics.median import median
from gate.rulebook.report_view import row_key

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement, StatedRate


def rate(row: Measurement, scope: str) -> float | None:
    """Tokens a second of a row in `scope` (as of `StatedRate`); a printed decode rate where it is all there is."""
    tokens, seconds = _work(row, scope)
    if tokens and seconds:
        return tokens / seconds
    return row.stated_decode_tok_s if scope == "decode" else None


def _work(row: Measurement, scope: str) -> tuple[int | None, float | None]:
    if scope == "prefill":
        return row.prompt_tokens, row.prefill_s
    if scope == "decode":
        return row.decode_tokens, row.decode_s
    emitted = len(row.token_ids) if row.token_ids is not None else row.decode_tokens
    if scope == "prompt_and_output":
        both = None if emitted is None or row.prompt_tokens is None else row.prompt_tokens + emitted
        return both, row.e2e_s
    return emitted, row.e2e_s


def ratios(arm: Arm, baseline: Arm, scope: str) -> Iterator[float]:
    """The ratio of two arms by each estimator that their rows, or the rates printed for them, allow."""
    for statistic in ("total", "median", "mean"):
        ours, theirs = arm_rate(arm, scope, statistic), arm_rate(baseline, scope, statistic)
        if ours is not None and theirs:
            yield ours / theirs
    partners = {row_key(row): rate(row, scope) for row in baseline.measurements}
    paired = [
        ours / theirs
        for row in arm.measurements
        if (theirs := partners.get(row_key(row))) and (ours := rate(row, scope)) is not None
    ]
    if paired:
        yield median(paired)
        yield math.fsum(paired) / len(paired)


def arm_rate(arm: Arm, scope: str, statistic: str) -> float | None:
    """The rate of an arm from its rows; as printed where there are no rows."""
    if not arm.measurements:
        return next((r.value for r in arm.stated_rates if (r.scope, r.statistic) == (scope, statistic)), None)
    if statistic == "total":
        return _total(arm.measurements, scope)
    rates = [rate(row, scope) for row in arm.measurements]
    known = [one for one in rates if one is not None]
    if not known or len(known) < len(rates):
        return None
    return median(known) if statistic == "median" else math.fsum(known) / len(known)


def _total(rows: Sequence[Measurement], scope: str) -> float | None:
    tokens = seconds = 0.0
    for row in rows:
        done, spent = _work(row, scope)
        if done is None or not spent:
            return None
        tokens, seconds = tokens + done, seconds + spent
    return tokens / seconds if seconds else None


def derived_rate(arm: Arm, stated: StatedRate) -> float | None:
    """What the rows give for a rate printed for the whole arm; none if there are no rows to derive it from."""
    return arm_rate(arm, stated.scope, stated.statistic) if arm.measurements else None


def acceptances(arm: Arm) -> dict[str, float]:
    """Accepted drafts over drafts, and over output tokens, from the totals of the rows, where these are known.

    Drafts that a tool does not count are taken as a full block each, less the token it starts from.
    """
    accepted = drafted = emitted = 0
    size = arm.drafter.block_size if arm.drafter is not None else None
    for row in arm.measurements:
        said = row.speculation
        tokens = said.committed if said is not None and said.committed is not None else row.decode_tokens
        if said is None or said.blocks is None or tokens is None:
            return {}
        accepted += said.accepted if said.accepted is not None else tokens - said.blocks
        drafted += said.drafted if said.drafted is not None else said.blocks * ((size or 1) - 1)
        emitted += tokens
    found = {"drafted": accepted / drafted} if drafted else {}
    return found | ({"output_tokens": accepted / emitted} if emitted else {})
