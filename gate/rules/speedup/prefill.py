"""Prefill: one computation over one prompt, which takes one time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import beside_oracle, compared_arms
from gate.figures.rates import prefill_seconds_a_token
from gate.figures.statistics.median import median
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, evicts, foreign_peer, row_key
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim

MAX_PREFILL_SPREAD = Threshold(
    "MAX_PREFILL_SPREAD",
    3.0,
    "ratio",
    meaning="Largest over smallest prefill seconds a token within an arm.",
    source="identical prefills of 35 s and 146 s came from a machine that swapped",
)


@claim_rule(
    "SPEEDUP_PREFILL_VARIANCE",
    title="Prefill times that scatter",
    catches="Prefill seconds a prompt token, the median over a sample's repeats, of which the largest is over "
    f"{MAX_PREFILL_SPREAD.value:g} times the smallest within the arm or its baseline, or rows without them.",
    why="Identical prefills of 35 s and 146 s say that the machine swapped, and so did everything else it timed.",
    fix="Run on an idle machine with room for the model, warmed up over the same shapes.",
    blocks=RATIOS,
    example=Example(
        bad="prefill from 21.5 s to 146 s for equal prompts", good="prefill from 20.1 s to 22.7 s for equal prompts"
    ),
    thresholds=(MAX_PREFILL_SPREAD,),
)
def prefill_variance(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The spread of prefill within an arm, by tokens."""
    for arm in compared_arms(view, claim) or ():
        rates = prefill_seconds_a_token(arm)
        if rates is None:
            message = f"{arm.name}: not every row records prefill seconds and prompt tokens"
            yield Finding(message, arm.name, field="prefill_s", found="none", allowed="every row")
        elif max(rates) > MAX_PREFILL_SPREAD.value * min(rates):
            spread = max(rates) / min(rates) if min(rates) > 0 else float("inf")
            yield Finding(
                f"{arm.name}: prefill took {min(rates) * 1e3:.4g} to {max(rates) * 1e3:.4g} ms a token (median "
                f"{median(rates) * 1e3:.4g}), {spread:.3g} times as much; at most "
                f"{MAX_PREFILL_SPREAD.value:g}",
                arm=arm.name,
                field="prefill_s",
                found=f"{spread:.3g}",
                allowed=f"at most {MAX_PREFILL_SPREAD.value:g}",
            )


MAX_PREFILL_RATIO = Threshold(
    "MAX_PREFILL_RATIO",
    1.25,
    "ratio",
    meaning="Oracle's over arm's prefill seconds, median of pairs, where both read the prompt into the same "
    "native cache.",
    source="a choice: one computation, so noise alone is left",
)


@claim_rule(
    "SPEEDUP_PREFILL_UNEQUAL",
    title="The same prefill at two speeds",
    catches="A ratio, which is told with what it comes to from end to end, of an arm that reads prompts as the oracle "
    f"does, into the same cache, and is said to read them over {MAX_PREFILL_RATIO.value:g} times as fast.",
    why="21 s against 146 s for identical prefills made 2.58x.",
    fix="Interleave the arms on an idle machine, and measure again.",
    blocks=RATIOS,
    example=Example(
        bad="1.5x end to end, all of it from a prefill that is the oracle's own", good="1.5x end to end, equal prefills"
    ),
    thresholds=(MAX_PREFILL_RATIO,),
)
def prefill_unequal(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Prefill of a native cache is one computation, whoever decodes."""
    for arm, baseline in beside_oracle(view, claim):
        own = claim.metric == "e2e_speedup" or not foreign_peer(view, arm)  # another project may well read faster
        if evicts(arm) or not own:
            continue
        theirs = {row_key(row): row.prefill_s for row in baseline.measurements}
        ratios = [
            slower / row.prefill_s for row in arm.measurements if row.prefill_s and (slower := theirs.get(row_key(row)))
        ]
        if ratios and median(ratios) > MAX_PREFILL_RATIO.value:
            found, most = f"{median(ratios):.4g}", f"at most {MAX_PREFILL_RATIO.value:g}"
            message = f"{arm.name}: prefills {found} times as fast as {baseline.name}, the same computation; {most}"
            yield Finding(message, arm.name, None, "prefill_s", found, most)
