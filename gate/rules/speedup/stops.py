"""Where streams ended: a ratio of rates is one only between streams that stopped alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, row_key
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement

MAX_TOKENS_SPREAD = Threshold(
    "MAX_TOKENS_SPREAD",
    4.0,
    "ratio",
    meaning="Most over fewest decode tokens among the rows of an arm.",
    source="a choice: rows of 128 beside rows of 7 make a median of nothing",
)

MAX_PAIR_TOKENS_RATIO = Threshold(
    "MAX_PAIR_TOKENS_RATIO",
    1.1,
    "ratio",
    meaning="Longer over shorter stream of a pair; beyond it the ratio compares stops.",
    source="a choice: a tenth",
)


@claim_rule(
    "EARLY_STOP",
    title="A ratio of stops",
    catches="Pairs that stopped for different reasons or at different lengths, or an arm whose longest stream has over "
    f"{MAX_TOKENS_SPREAD.value:g} times the tokens of its shortest.",
    why="A median over samples of 128 and 7 tokens compares where streams ended, not how fast they came.",
    fix="Decode the full budget in every arm (`ignore_turn_stop`), and record why each stream ended.",
    blocks=RATIOS,
    example=Example(
        bad="the arm stops after 40 tokens, the oracle after 128", good="both decode their full budget of 128"
    ),
    thresholds=(MAX_TOKENS_SPREAD, MAX_PAIR_TOKENS_RATIO),
)
def early_stop(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Arm and baseline did not stop alike."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if arm is None or baseline is None:
        return
    partners = {row_key(row): row for row in baseline.measurements}
    for row in arm.measurements:
        partner = partners.get(row_key(row))
        if partner is not None:
            yield from _stops(view, arm, row, baseline, partner)
    for one in (arm, baseline):
        counts = [row.decode_tokens for row in one.measurements if row.decode_tokens]
        if counts and max(counts) / min(counts) > MAX_TOKENS_SPREAD.value:
            yield Finding(
                f"{one.name}: {min(counts)} to {max(counts)} decode tokens; at most "
                f"{MAX_TOKENS_SPREAD.value:g} times as many are comparable",
                arm=one.name,
                field="decode_tokens",
                found=f"{max(counts) / min(counts):.3g}",
                allowed=f"at most {MAX_TOKENS_SPREAD.value:g}",
            )


def _stops(view: ReportView, arm: Arm, row: Measurement, baseline: Arm, partner: Measurement) -> Iterator[Finding]:
    where = f"{arm.name} against {baseline.name}, sample {row.sample}, repeat {row.repeat}"
    ours, theirs = _reason(view, row), _reason(view, partner)
    if ours is None or ours != theirs:
        message = f"{where}: stopped for {ours or 'an unknown reason'}, the baseline for {theirs or 'an unknown one'}"
        yield Finding(message, arm.name, row.sample, "stop_reason", ours or "none", theirs or "a reason")
    tokens, base = row.decode_tokens, partner.decode_tokens
    if not tokens or not base:
        if tokens != base or ours is None:
            message = f"{where}: {tokens} decode tokens against {base}; the ratio needs both"
            yield Finding(message, arm.name, row.sample, "decode_tokens", str(tokens), str(base))
    elif max(tokens, base) / min(tokens, base) > MAX_PAIR_TOKENS_RATIO.value:
        message = f"{where}: {tokens} decode tokens against {base}"
        allowed = f"within a factor of {MAX_PAIR_TOKENS_RATIO.value:g} of {base}"
        yield Finding(message, arm.name, row.sample, "decode_tokens", str(tokens), allowed)


def _reason(view: ReportView, row: Measurement) -> str | None:
    """Why a stream ended; where it is not recorded, a stream as long as the budget ran out of it."""
    budget = view.report.plan.max_new_tokens if view.report.plan is not None else None
    if row.stop_reason is None and budget is not None and row.decode_tokens in (budget, budget - 1):
        return "length"
    return row.stop_reason
