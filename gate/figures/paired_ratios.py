"""Ratios of two arms, paired by sample and repeat, and what they come to over distinct prompts."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gate.figures.rates import rate_of
from gate.figures.statistics import intervals
from gate.figures.statistics.intervals import Estimate
from gate.rulebook.report_view import row_key
from reports.records.measurement import Arm, Measurement

Key = tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """The ratio of an arm to its baseline in one (sample, repeat); `arm_first` if both orders are recorded.

    `prompt` is the first sample with the same prompt: a prompt that is repeated is one sample, measured more often.
    """

    sample: int
    repeat: int
    prompt: int
    ratio: float
    arm_first: bool | None


def prompt_of(rows: Sequence[Measurement]) -> dict[int, int]:
    """For each sample of an arm's rows the first sample with the same prompt.

    Prompts are told apart by their digests; where these are missing, samples that cannot be told apart at all (the
    same number of prompt tokens, the same tokens emitted) count as one.
    """
    first: dict[object, int] = {}
    found: dict[int, int] = {}
    for row in sorted(rows, key=row_key):
        if row.sample in found:
            continue
        mark: object = row.prompt_digest
        if mark is None:
            alike = (row.prompt_tokens, row.token_ids)
            mark = alike if None not in alike else row.sample
        found[row.sample] = first.setdefault(mark, row.sample)
    return found


def rows_by_key(arm: Arm) -> dict[Key, Measurement]:
    """Rows by (sample, repeat); keys that stand twice are ambiguous and left out."""
    found = {(row.sample, row.repeat): row for row in arm.measurements}
    if len(found) < len(arm.measurements):
        counts = Counter(map(row_key, arm.measurements))
        found = {key: row for key, row in found.items() if counts[key] == 1}
    return found


def paired_ratios(arm: Arm, baseline: Arm, metric: str = "decode_speedup") -> tuple[Pair, ...]:
    """Ratios of rates, paired by (sample, repeat) and sorted; rows without a partner or a rate are left out."""
    partners, prompts = rows_by_key(baseline), prompt_of(arm.measurements)
    pairs = []
    for key, row in sorted(rows_by_key(arm).items()):
        partner = partners.get(key)
        if partner is None:
            continue
        rate, base = rate_of(row, metric), rate_of(partner, metric)
        if rate is not None and base is not None:
            ratio = rate / base
            if 0 < ratio < math.inf:
                pairs.append(Pair(*key, prompts[row.sample], ratio, _is_first(row, partner)))
    return tuple(pairs)


def _is_first(row: Measurement, partner: Measurement) -> bool | None:
    if row.order is None or partner.order is None or row.order == partner.order:
        return None
    return row.order < partner.order


def by_prompt(pairs: Iterable[Pair]) -> list[list[float]]:
    """The ratios of each distinct prompt, prompts in order."""
    groups: dict[int, list[float]] = defaultdict(list)
    for pair in pairs:
        groups[pair.prompt].append(pair.ratio)
    return [groups[prompt] for prompt in sorted(groups)]


def ratio_estimate(pairs: Sequence[Pair]) -> Estimate | None:
    """Median over prompts of the median over repeats, with its bootstrap interval."""
    return intervals.bootstrap(by_prompt(pairs)) if pairs else None


def one_prompt_left_out(pairs: Sequence[Pair]) -> tuple[float, float] | None:
    """Smallest and largest value of the ratio when any one prompt is left out."""
    return intervals.leave_one_out(by_prompt(pairs))
