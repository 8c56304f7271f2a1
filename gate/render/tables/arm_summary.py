"""A report in a table: an arm a row, its figures derived from the rows. What the rows do not allow is none.

What is measured (seconds, bytes, answers) is shown as it is; a ratio is a claim, and shown only if the gate admits it.
"""

from dataclasses import dataclass

from gate.claims.against_baseline import prompt_groups, ratio_of
from gate.claims.counted_prompts import without_loops
from gate.claims.remote_ratio import RemoteRatio, remote_ratio, twin_of
from gate.figures.acceptance import Acceptance, acceptance_of
from gate.figures.kv_memory import kv_bytes
from gate.figures.prompt_shares import recall_of
from gate.figures.rates import decode_rate, median_of
from gate.figures.statistics.intervals import Share
from gate.figures.statistics.ratio_estimate import RatioEstimate
from gate.judging.judge import NOTHING_SAID
from gate.judging.judged_file import JudgedFile
from gate.rulebook.report_view import ReportView
from reports.records.claims import NullRatioClaim, SpeedupClaim
from reports.records.measurement import Arm
from reports.report import Report


@dataclass(frozen=True)
class RoundTripSummary:
    """What messages cost an arm that another process ran: seconds of its prefill, and of each token it decoded.

    `beside_here` compares it with the same engine in this process, `band` is A/A; none in a report that is not valid.
    """

    prefill_s: float
    token_s: float | None
    beside_here: RemoteRatio | None
    band: RatioEstimate | None


@dataclass(frozen=True)
class ArmSummary:
    """Medians over the rows of an arm: seconds, bytes, tokens a second.

    `samples` ran, `planned` were meant to (none: not recorded). `ratio` is the admitted claim about its decode rate (of
    the oracle run again: how far this run's noise reaches); `ratio_withheld`, that there is one which is not admitted.
    """

    name: str
    role: str
    engine: str
    restoration: str | None
    rows: int
    samples: int
    planned: int | None
    recalled: Share | None
    prefill_s: float | None
    decode_tok_s: float | None
    round_trip: RoundTripSummary | None
    ratio: SpeedupClaim | NullRatioClaim | None
    ratio_withheld: bool
    kv_bytes: float | None
    acceptance: Acceptance | None


def summarise(report: Report, judged: JudgedFile) -> tuple[ArmSummary, ...]:
    """A summary of every arm, in the order of the report, as `judged` allows."""
    refused = {claim.name for claim in judged.withheld}
    admitted = {claim.name for claim in judged.claims} - refused
    view = ReportView(report)
    return tuple(_summary(view, arm, admitted, valid=judged.verdict not in NOTHING_SAID) for arm in report.arms)


def _ratio(report: Report, arm: Arm) -> SpeedupClaim | NullRatioClaim | None:
    """The claim about the decode rate of `arm`."""
    for claim in report.claims:
        if isinstance(claim, SpeedupClaim | NullRatioClaim) and claim.metric != "e2e_speedup" and claim.arm == arm.name:
            return claim
    return None


def _round_trip(view: ReportView, arm: Arm, *, valid: bool) -> RoundTripSummary | None:
    trips = [(row, row.round_trip) for row in arm.measurements if row.round_trip is not None]
    prefill = median_of(trip.prefill_s for _, trip in trips)
    a_token = median_of(trip.decode_s / row.decode_tokens for row, trip in trips if row.decode_tokens)
    if prefill is None:
        return None
    twin = twin_of(view.report, arm) if valid else None
    both = (without_loops(view, arm), without_loops(view, twin)) if twin is not None else None
    ratio = remote_ratio(*both, prompt_groups(view, arm)) if both is not None else None
    aa = ratio_of(view, view.null, view.oracle, "null_ratio") if valid and view.null and view.oracle else None
    return RoundTripSummary(prefill, a_token, ratio, aa)


def _summary(view: ReportView, arm: Arm, admitted: set[str], *, valid: bool) -> ArmSummary:
    report = view.report
    rows, ratio = arm.measurements, _ratio(report, arm)
    shown = ratio is not None and ratio.name in admitted
    return ArmSummary(
        name=arm.name,
        role=arm.role,
        engine=arm.engine,
        restoration=arm.restoration.mode if arm.restoration is not None else None,
        rows=len(rows),
        samples=len({row.sample for row in rows}),
        planned=report.plan.samples if report.plan is not None else None,
        recalled=recall_of(arm),
        prefill_s=median_of(row.prefill_s for row in rows),
        decode_tok_s=median_of(decode_rate(row) for row in rows),
        round_trip=_round_trip(view, arm, valid=valid),
        ratio=ratio if shown else None,
        ratio_withheld=ratio is not None and not shown,
        kv_bytes=median_of(kv_bytes(row) for row in rows),
        acceptance=acceptance_of(without_loops(view, arm)),
    )
