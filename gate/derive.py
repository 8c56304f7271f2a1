"""Figures derived from rows: rates, paired ratios, intervals, recall, acceptance, bytes. Pure, on plain numbers.

`None` always means: the rows do not allow this figure.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gate import thresholds
from gate.case import row_key
from reports.measurement import Arm, Measurement

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Pair:
    """The ratio of an arm to its baseline in one (sample, repeat); `arm_first` if both orders are recorded."""

    sample: int
    repeat: int
    ratio: float
    arm_first: bool | None


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Recall:
    """Distinct samples, and how many of them every repeat recalled."""

    correct: int
    total: int

    @property
    def rate(self) -> float:
        """Correct / total."""
        return self.correct / self.total


@dataclass(frozen=True)
class Acceptance:
    """The three figures of a drafter; `by_position[i]` is the share of drafts at position i that were accepted."""

    rate: float
    committed_per_block: float
    by_position: tuple[float, ...]


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


def rate_of(row: Measurement, scope: str) -> float | None:
    """The rate a claim of metric `scope` (decode_speedup, e2e_speedup, null_ratio) is about."""
    return e2e_rate(row) if scope == "e2e_speedup" else decode_rate(row)


def paired_ratios(arm: Arm, baseline: Arm, scope: str = "decode_speedup") -> tuple[Pair, ...]:
    """Ratios of rates, paired by (sample, repeat) and sorted; rows without a partner are left out."""
    partners = {row_key(row): row for row in baseline.measurements}
    pairs = []
    for row in arm.measurements:
        partner = partners.get(row_key(row))
        if partner is None:
            continue
        rate, base = rate_of(row, scope), rate_of(partner, scope)
        if rate is None or base is None:
            continue
        known = row.order is not None and partner.order is not None
        first = row.order < partner.order if known else None  # type: ignore[operator]
        pairs.append(Pair(row.sample, row.repeat, rate / base, first))
    return tuple(sorted(pairs, key=lambda pair: (pair.sample, pair.repeat)))


def ratio_estimate(pairs: Sequence[Pair]) -> Estimate | None:
    """Median over samples of the per-sample median, with a bootstrap that resamples samples, then repeats."""
    if not pairs:
        return None
    groups = _by_sample(pairs)
    value = statistics.median(statistics.median(group) for group in groups)
    low, high = _bootstrap(tuple(tuple(group) for group in groups))
    return Estimate(value, low, high)


def leave_one_out(pairs: Sequence[Pair]) -> tuple[float, float] | None:
    """Smallest and largest value of the ratio when any one sample is left out."""
    groups = _by_sample(pairs)
    if len(groups) < 2:
        return None
    medians = [statistics.median(group) for group in groups]
    rest = [statistics.median(medians[:i] + medians[i + 1 :]) for i in range(len(medians))]
    return min(rest), max(rest)


def _by_sample(pairs: Iterable[Pair]) -> list[list[float]]:
    groups: dict[int, list[float]] = defaultdict(list)
    for pair in pairs:
        groups[pair.sample].append(pair.ratio)
    return [groups[sample] for sample in sorted(groups)]


@lru_cache(maxsize=512)
def _bootstrap(groups: tuple[tuple[float, ...], ...]) -> tuple[float, float]:
    repeats = max(len(group) for group in groups)
    table = np.full((len(groups), repeats), np.nan)
    for index, group in enumerate(groups):
        table[index, : len(group)] = group
    lengths = np.array([len(group) for group in groups])
    samples, picks = _resamples(len(groups), repeats)
    chosen = (picks * lengths[samples][:, :, None]).astype(np.int64)
    drawn = table[samples[:, :, None], chosen]
    filled = np.arange(repeats)[None, None, :] < lengths[samples][:, :, None]
    medians = np.nanmedian(np.where(filled, drawn, np.nan), axis=2) if not filled.all() else _median(drawn)
    values = _median(medians)
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ordered = np.sort(values, axis=-1)
    count = ordered.shape[-1]
    middle: NDArray[np.float64] = (ordered[..., (count - 1) // 2] + ordered[..., count // 2]) / 2
    return middle


@lru_cache(maxsize=64)
def _resamples(samples: int, repeats: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    random = np.random.Generator(np.random.PCG64(thresholds.BOOTSTRAP_SEED))
    resamples = thresholds.BOOTSTRAP_RESAMPLES
    drawn = (random.random((resamples, samples)) * samples).astype(np.int64)
    return drawn, random.random((resamples, samples, repeats))


def recall(arm: Arm) -> Recall | None:
    """Recall over distinct samples; none if any row is unscored or there is no row."""
    verdicts: dict[int, bool] = {}
    for row in arm.measurements:
        if row.correct is None:
            return None
        verdicts[row.sample] = verdicts.get(row.sample, True) and row.correct
    return Recall(sum(verdicts.values()), len(verdicts)) if verdicts else None


def wilson(found: Recall) -> Estimate:
    """Wilson's score interval of a share (Wilson 1927)."""
    n, p, z2 = found.total, found.rate, Z_95 * Z_95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Estimate(p, max(0.0, centre - half), min(1.0, centre + half))


def recall_difference(first: Recall, second: Recall) -> Estimate:
    """Interval of first - second by Newcombe's hybrid score method (Newcombe 1998, method 10)."""
    a, b = wilson(first), wilson(second)
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    high = value + math.hypot(a.high - a.value, b.value - b.low)
    return Estimate(value, low, high)


def acceptance(arm: Arm) -> Acceptance | None:
    """The three acceptance figures, from the per-block rows of every measurement."""
    rounds = [
        block for row in arm.measurements if row.speculation is not None for block in row.speculation.rounds or ()
    ]
    drafted = sum(block.drafted for block in rounds)
    if not rounds or drafted == 0:
        return None
    accepted = sum(block.accepted for block in rounds)
    widest = max(block.drafted for block in rounds)
    by_position = tuple(
        sum(block.accepted > i for block in rounds) / max(1, sum(block.drafted > i for block in rounds))
        for i in range(widest)
    )
    return Acceptance(accepted / drafted, sum(block.committed for block in rounds) / len(rounds), by_position)


def kv_bytes(row: Measurement) -> int | None:
    """The most K/V bytes a row held at the end of a stage."""
    held = [value for value in (row.kv_bytes_prefill, row.kv_bytes_decode) if value is not None]
    return max(held) if held else None


def kv_saving(arm: Arm, baseline: Arm) -> float | None:
    """Median over paired rows of 1 - arm bytes / baseline bytes."""
    partners = {row_key(row): row for row in baseline.measurements}
    savings = []
    for row in arm.measurements:
        partner = partners.get(row_key(row))
        held, base = kv_bytes(row), kv_bytes(partner) if partner is not None else None
        if held is None or not base:
            return None
        savings.append(1 - held / base)
    return statistics.median(savings) if savings else None


def token_identity(arm: Arm, oracle: Arm) -> Recall | None:
    """Rows whose token ids equal the oracle's in the same (sample, repeat), over all rows of the arm."""
    partners = {row_key(row): row.token_ids for row in oracle.measurements}
    equal = 0
    for row in arm.measurements:
        theirs = partners.get(row_key(row))
        if row.token_ids is None or theirs is None:
            return None
        equal += row.token_ids == theirs
    return Recall(equal, len(arm.measurements)) if arm.measurements else None
