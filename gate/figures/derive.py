"""Figures derived from rows: rates, paired ratios, recall, acceptance, bytes. Pure, on plain numbers.

`None` always means: the rows do not allow this figure.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from gate.figures import intervals
from gate.figures.intervals import Estimate, Share
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


def rate_of(row: Measurement, metric: str) -> float | None:
    """The rate a claim of `metric` (decode_speedup, e2e_speedup, null_ratio) is about."""
    return e2e_rate(row) if metric == "e2e_speedup" else decode_rate(row)


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


def leave_one_out(pairs: Sequence[Pair]) -> tuple[float, float] | None:
    """Smallest and largest value of the ratio when any one prompt is left out."""
    return intervals.leave_one_out(by_prompt(pairs))


def recall(arm: Arm) -> Share | None:
    """Distinct prompts that every repeat recalled; none if a row is unscored or there is no row."""
    return _recalled(arm.measurements, every=True)


def recall_at_most(arm: Arm, samples: Collection[int]) -> Share | None:
    """Distinct prompts among `samples` that any repeat recalled: a control must not look worse than it is."""
    rows = tuple(row for row in arm.measurements if row.sample in samples)
    return _recalled(rows, every=False)


def _recalled(rows: Sequence[Measurement], *, every: bool) -> Share | None:
    verdicts: dict[int, list[bool]] = defaultdict(list)
    prompts = prompt_of(rows)
    for row in rows:
        if row.correct is None:
            return None
        verdicts[prompts[row.sample]].append(row.correct)
    met = all if every else any
    return Share(sum(map(met, verdicts.values())), len(verdicts)) if verdicts else None


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


def acceptance(arm: Arm) -> Acceptance | None:
    """The three acceptance figures, from the per-block rows of every measurement; none if a row lacks them."""
    said = [row.speculation for row in arm.measurements]
    if not said or any(one is None or one.rounds is None for one in said):
        return None
    rounds = [block for one in said if one is not None for block in one.rounds or ()]
    drafted = sum(block.drafted for block in rounds)
    if drafted == 0:
        return None
    reached, kept = Counter[int](), Counter[int]()
    for block in rounds:
        reached[block.drafted] += 1
        kept[min(block.accepted, block.drafted)] += 1
    by_position = _shares_by_position(reached, kept)
    accepted = sum(block.accepted for block in rounds)
    return Acceptance(accepted / drafted, sum(block.committed for block in rounds) / len(rounds), by_position)


def _shares_by_position(drafted: Counter[int], accepted: Counter[int]) -> tuple[float, ...]:
    """Of the blocks that drafted more than i tokens, the share that accepted more than i."""
    shares, reached, kept = [], 0, 0
    for position in range(max(drafted) - 1, -1, -1):
        reached, kept = reached + drafted[position + 1], kept + accepted[position + 1]
        shares.append(kept / reached)
    return tuple(reversed(shares))


def kv_bytes(row: Measurement) -> int | None:
    """The most K/V bytes a row held at the end of prefill or decode; none unless both were measured."""
    if row.kv_bytes_prefill is None or row.kv_bytes_decode is None:
        return None
    return max(row.kv_bytes_prefill, row.kv_bytes_decode)


def kv_saving(arm: Arm, baseline: Arm) -> float | None:
    """Median over paired rows of 1 - arm bytes / baseline bytes; none if a row has no bytes or no partner."""
    partners = rows_by_key(baseline)
    savings = []
    for row in arm.measurements:
        partner = partners.get(row_key(row))
        held, base = kv_bytes(row), kv_bytes(partner) if partner is not None else None
        if held is None or not base:
            return None
        savings.append(1 - held / base)
    return statistics.median(savings) if savings else None


def loops(arm: Arm) -> set[str | None]:
    """The loops that decoded the arm's rows, as each row records; where a row does not, as the arm does."""
    return {row.decode_loop if row.decode_loop is not None else arm.decode_loop for row in arm.measurements} or {None}


def prefill_seconds_a_token(arm: Arm) -> list[float] | None:
    """Prefill seconds over prompt tokens, the median over the repeats of every sample, as ratios take it; none if there
    is no row or one does not record them."""
    rates: dict[int, list[float]] = defaultdict(list)
    for row in arm.measurements:
        if row.prefill_s is None or not row.prompt_tokens:
            return None
        rates[row.sample].append(row.prefill_s / row.prompt_tokens)
    return [statistics.median(repeats) for repeats in rates.values()] or None


def median_of(values: Iterable[float | None]) -> float | None:
    """The median; none if there is no value or one is unknown."""
    known = list(values)
    if not known or None in known:
        return None
    return statistics.median(value for value in known if value is not None)
