"""How a claim is printed. Only a `Headline`, which only the gate makes, can be printed as one."""

from collections.abc import Iterable

from gate.judging.judge import Headline, JudgedClaim
from gate.judging.reasons import Reason
from gate.judging.rule_set import find_rule
from gate.rulebook.claim_kinds import CLAIM_KINDS
from reports.records.claims import AcceptanceClaim, BaseClaim, KvQuantClaim, RatioClaim, RecallClaim, ReplayClaim
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line

_LIMIT = 1000


def headline_line(headline: Headline) -> str:
    """`HEADLINE name = value, with what belongs beside it`."""
    claim = headline.claim
    share = f" ({headline.counted.correct}/{headline.counted.total})" if headline.counted is not None else ""
    parts = [f"HEADLINE {claim.name} = {three_digits(claim.value, unit_of(claim))}{share}"]
    if claim.interval is not None:
        low, high = claim.interval.low, claim.interval.high
        parts.append(f"95 % interval {three_digits(low)} to {three_digits(high)}")
    if claim.baseline is not None:
        parts.append(f"against {claim.baseline}")
    match claim:
        case RecallClaim():
            parts += _beside(claim)
        case RatioClaim():
            parts += _basis(claim)
        case KvQuantClaim(error_ratio=float(ratio), error_interval=(low, high)):
            parts.append(
                f"its error {three_digits(ratio, 'x')} affine 4's, {three_digits(low)} to {three_digits(high)}"
            )
        case ReplayClaim():
            otherwise = "are false" if claim.metric == "rows_replayed" else "would come out otherwise"
            parts += [
                f"of {claim.rows} rows",
                f"at most {three_digits(100 * (claim.false_at_most or 0.0))} % {otherwise}",
            ]
            parts += [f"{claim.near_ties} by a tie"] * bool(claim.near_ties)
            parts += [f"{claim.not_run} could not run"] * bool(claim.not_run)
        case AcceptanceClaim():
            shares = " ".join(f"{share:.2f}" for share in claim.by_position or ())
            parts.append(f"committed per block {three_digits(claim.committed_per_block or 0.0)}, by position {shares}")
    if headline.text is not None:
        parts.append(headline.text)
    return one_line(", ".join(parts), _LIMIT)


def _beside(claim: RecallClaim) -> list[str]:
    """The arms that recall is compared with, and what luck makes of the difference."""
    parts = []
    if claim.control is not None:
        parts.append(f"beside control {claim.control}")
    if claim.p_control is not None:
        parts.append(f"chance alone would put it so far above the control in {claim.p_control:.2g} of runs")
    if claim.p_oracle is not None and claim.p_oracle < 1:
        parts.append(f"chance alone would put it so far below the oracle in {claim.p_oracle:.2g} of runs")
    return parts


def _basis(claim: RatioClaim) -> list[str]:
    """What a ratio stands on, and what else it could have been called."""
    parts = []
    if claim.prompts is not None and claim.groups is not None:
        processes = f" in {number_of(claim.processes, 'process')}" if claim.processes else ""
        parts.append(f"on {number_of(claim.prompts, 'prompt')} of {number_of(claim.groups, 'kind')}{processes}")
        if claim.left_out:
            parts.append(f"{claim.left_out} more left out, where the plain model goes round in a circle")
    if claim.end_to_end is not None:
        parts.append(f"end to end {three_digits(claim.end_to_end, 'x')}")
    if claim.ratio_of_totals is not None:
        parts.append(f"all tokens over all seconds {three_digits(claim.ratio_of_totals, 'x')}")
    if claim.leave_one_out is not None:
        low, high = claim.leave_one_out
        parts.append(f"leaving one kind out {three_digits(low)} to {three_digits(high)}")
    if claim.looks is not None:
        parts.append(f"ended at one of {number_of(claim.looks, 'look')}, for which the interval is widened")
    if claim.ratios is not None and claim.ratios > 1:
        parts.append(f"one of {claim.ratios} ratios of this run")
    return parts


def withheld_line(claim: JudgedClaim) -> str:
    """`WITHHELD name: codes`; the figure itself is not printed."""
    return one_line(f"WITHHELD {claim.name}: {', '.join(claim.withheld_by) or 'not claimed'}", _LIMIT)


def reason_line(reason: Reason) -> str:
    """`CODE: what was found`, for the codes that no violation explains."""
    return one_line(f"{reason.code}: {reason.message}", _LIMIT)


def hint_line(claims: Iterable[JudgedClaim]) -> str | None:
    """Where the codes of what is withheld are explained; none if nothing is withheld by a rule."""
    for claim in claims:
        known = [code for code in claim.withheld_by if find_rule(code) is not None]
        if known and claim.metric in CLAIM_KINDS:
            return (
                f"`k3 gate explain {known[0]}` says what a code means, `k3 gate explain {claim.metric}` what a claim is"
            )
    return None


def unit_of(claim: BaseClaim) -> str:
    """The unit to print behind a value; shares have none."""
    return "x" if getattr(claim, "unit", "") == "x" else ""


def three_digits(value: float, unit: str = "") -> str:
    """Three significant digits, as a table of results has them; a thousand and more without a fraction."""
    return f"{value:,.0f}{unit}" if abs(value) >= 1000 else f"{value:.3g}{unit}"
