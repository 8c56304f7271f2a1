"""Shares of distinct prompts: those that an arm recalled, and those that it continued as the oracle did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gate.figures.paired_ratios import prompt_of, rows_by_key
from gate.figures.statistics.intervals import Share
from gate.rulebook.report_view import row_key

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


def recall_of(arm: Arm) -> Share | None:
    """Distinct prompts that every repeat recalled; none if a row is unscored or there is no row."""
    return _recalled(arm.measurements, every=True)


def recall_at_most(arm: Arm, samples: Collection[int]) -> Share | None:
    """Distinct prompts among `samples` that any repeat recalled: a control must not look worse than it is."""
    rows = tuple(row for row in arm.measurements if row.sample in samples)
    return _recalled(rows, every=False)


def _recalled(rows: Sequence[Measurement], *, every: bool) -> Share | None:
    verdicts = _verdicts(rows)
    met = all if every else any
    return Share(sum(map(met, verdicts.values())), len(verdicts)) if verdicts else None


def _verdicts(rows: Sequence[Measurement]) -> dict[int, list[bool]] | None:
    """Whether each row recalled, by prompt; none where a row is unscored."""
    verdicts: dict[int, list[bool]] = defaultdict(list)
    prompts = prompt_of(rows)
    for row in rows:
        if row.correct is None:
            return None
        verdicts[prompts[row.sample]].append(row.correct)
    return verdicts


def told_apart(arm: Arm, other: Arm) -> tuple[int, int] | None:
    """Prompts that every repeat of `arm` recalled and none of `other`, and those that only `other` recalled.

    A prompt counts for `other` if any of its repeats recalled it; none where a row is unscored or missing.
    """
    ours, theirs = _verdicts(arm.measurements), _verdicts(other.measurements)
    if ours is None or theirs is None or not ours.keys() <= theirs.keys():
        return None
    gained = sum(all(ours[prompt]) and not any(theirs[prompt]) for prompt in ours)
    return gained, sum(any(theirs[prompt]) and not all(ours[prompt]) for prompt in ours)


def token_identity(arm: Arm, oracle: Arm) -> Share | None:
    """Distinct prompts in every repeat of which the token ids equal the oracle's; none if a row lacks them.

    A greedy stream says the same in every repeat, so repeats add nothing to what was tried.
    """
    partners, prompts = rows_by_key(oracle), prompt_of(arm.measurements)
    verdicts: dict[int, list[bool]] = defaultdict(list)
    for row in arm.measurements:
        theirs = partners.get(row_key(row))
        if row.token_ids is None or theirs is None or theirs.token_ids is None:
            return None
        verdicts[prompts[row.sample]].append(row.token_ids == theirs.token_ids)
    return Share(sum(map(all, verdicts.values())), len(verdicts)) if verdicts else None
