"""Rates of rows: tokens a second by decoding alone and from end to end, and seconds a token of prefill.

`None` always means, here and in the other figures: the rows do not allow this figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gate.figures.statistics.median import median

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


def decode_rate(row: Measurement) -> float | None:
    """Decode-only tokens a second."""
    if row.decode_s is None or row.decode_tokens is None or row.decode_s <= 0 or row.decode_tokens <= 0:
        return None
    return row.decode_tokens / row.decode_s


def e2e_rate(row: Measurement) -> float | None:
    """Emitted tokens a second, prefill included."""
    tokens = len(row.token_ids) if row.token_ids is not None else row.decode_tokens
    if row.e2e_s is None or tokens is None or row.e2e_s <= 0 or tokens <= 0:
        return None
    return tokens / row.e2e_s


def rate_of(row: Measurement, metric: str) -> float | None:
    """The rate a claim of `metric` (decode_speedup, e2e_speedup, null_ratio) is about."""
    return e2e_rate(row) if metric == "e2e_speedup" else decode_rate(row)


def prefill_seconds_a_token(arm: Arm) -> list[float] | None:
    """Prefill seconds over prompt tokens, the median over the repeats of every sample, as ratios take it; none if there
    is no row or one does not record them."""
    rates: dict[int, list[float]] = defaultdict(list)
    for row in arm.measurements:
        if row.prefill_s is None or not row.prompt_tokens:
            return None
        rates[row.sample].append(row.prefill_s / row.prompt_tokens)
    return [median(repeats) for repeats in rates.values()] or None


def median_of(values: Iterable[float | None]) -> float | None:
    """The median; none if there is no value or one is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return median(known) if known and len(known) == len(found) else None


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean; none if there is no value or one is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known and len(known) == len(found) else None
