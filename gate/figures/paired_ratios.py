"""Ratios of two arms, paired by sample, repeat and process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.figures.rates import rate_of
from gate.figures.statistics.ratio_estimate import PairedRepeat
from gate.rulebook.report_view import RowKey, row_key

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


@dataclass(frozen=True)
class Pair:
    """The ratio of an arm to its baseline in one round; `arm_first` if both orders are recorded.

    `prompt` is the first sample with the same prompt: a prompt that is repeated is one sample, measured more often.
    `group` names the template or document of the prompt; a prompt whose group is not recorded is one of its own.
    """

    sample: int
    repeat: int
    process: int
    prompt: int
    group: str
    ratio: float
    arm_first: bool | None

    @property
    def cell(self) -> PairedRepeat:
        """What an estimate needs of it."""
        return PairedRepeat(self.group, self.prompt, self.process, self.ratio)


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


def rows_by_key(arm: Arm) -> dict[RowKey, Measurement]:
    """Rows by what pairs them; keys that stand twice are ambiguous and left out."""
    found = {row_key(row): row for row in arm.measurements}
    if len(found) < len(arm.measurements):
        counts = Counter(map(row_key, arm.measurements))
        found = {key: row for key, row in found.items() if counts[key] == 1}
    return found


def paired_ratios(arm: Arm, baseline: Arm, metric: str, groups: Mapping[int, str]) -> tuple[Pair, ...]:
    """Ratios of rates, paired and sorted by sample, repeat and process; rows without a partner or a rate are left out.

    `groups` holds the group of each sample whose group is known.
    """
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
                prompt = prompts[row.sample]
                group = groups.get(prompt, f"prompt {prompt}")
                pairs.append(Pair(*key, prompt, group, ratio, _is_first(row, partner)))
    return tuple(pairs)


def _is_first(row: Measurement, partner: Measurement) -> bool | None:
    if row.order is None or partner.order is None or row.order == partner.order:
        return None
    return row.order < partner.order


def ratio_of_totals(arm: Arm, baseline: Arm, metric: str) -> float | None:
    """All tokens over all seconds of the arm, over those of the baseline, rows paired: what a user waits for."""
    partners = rows_by_key(baseline)
    rows = [(row, partners[key]) for key, row in rows_by_key(arm).items() if key in partners]
    ours, theirs = _total(metric, (row for row, _ in rows)), _total(metric, (partner for _, partner in rows))
    return ours / theirs if ours is not None and theirs is not None and 0 < ours / theirs < math.inf else None


def _total(metric: str, rows: Iterable[Measurement]) -> float | None:
    """Tokens a second of all rows together; none if a row has no rate."""
    tokens, seconds = 0.0, 0.0
    for row in rows:
        rate = rate_of(row, metric)
        spent = row.e2e_s if metric == "e2e_speedup" else row.decode_s
        if rate is None or spent is None:
            return None
        tokens, seconds = tokens + rate * spent, seconds + spent
    return tokens / seconds if seconds > 0 and tokens > 0 else None
