"""judge(report) -> Judgement: the only place where a claim is admitted."""

from dataclasses import dataclass

from gate.claims.in_distribution import kind_of_text
from gate.claims.propose import propose
from gate.claims.recompute import counted
from gate.figures.statistics.intervals import Share
from gate.judging.apply_rules import apply_all
from gate.judging.reasons import Reason, reasons_of
from gate.judging.rule_set import RULE_SET
from gate.judging.stated_verdict import unlike_stated
from gate.judging.verdicts import among, asserted_names, blockers_of, severity_of, verdict_of, violations_of
from gate.rulebook.report_view import ReportView
from reports.records.claims import BaseClaim, Claim, Status
from reports.records.record import Record
from reports.records.verdict import GateBlock, Verdict, Violation
from reports.report import Report

NOTHING_SAID: frozenset[Verdict] = frozenset({"invalid", "legacy", "not_evidence"})
"""Verdicts with which nothing of a report may be said, whatever it claims."""


class JudgedClaim(Record):
    """A claim after judgement; `withheld_by` are the codes that block it."""

    name: str
    metric: str
    value: float
    status: Status
    withheld_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Headline:
    """An admitted claim: the only type a headline printer accepts. Only `Judgement.headlines` makes one."""

    claim: BaseClaim
    counted: Share | None = None
    """So many of so many, where the claim is a share of prompts or rows."""

    text: str | None = None
    """On text of which kind, seen from what the arm's weights were trained on; none where none were."""


@dataclass(frozen=True)
class Judgement:
    """What may be said of a report, and why not more."""

    report: Report
    verdict: Verdict
    violations: tuple[Violation, ...]
    claims: tuple[JudgedClaim, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def headlines(self) -> tuple[Headline, ...]:
        """The claims that may be printed as such."""
        if self.verdict in NOTHING_SAID:
            return ()
        admitted = {claim.name for claim in self.claims if claim.status == "admitted" and _says_something(claim)}
        view = ReportView(self.report)
        shown = (claim for claim in self.report.claims if claim.name in admitted)
        return tuple(Headline(claim, counted(view, claim), kind_of_text(view, claim)) for claim in shown)


def _says_something(claim: JudgedClaim) -> bool:
    """The oracle against itself is noise, and a codec that is worth nothing is no news: neither is a headline."""
    return claim.metric != "null_ratio" and (claim.metric != "kv_codec_worthwhile" or claim.value > 0)


def judge(report: Report, extra: tuple[Violation, ...] = (), parity: frozenset[str] = frozenset()) -> Judgement:
    """Judge `report` by every rule; pure. `extra` are violations found outside it (a retraction): each blocks the
    claims it names, asserted or not. `parity` are digests of drafter weights whose parity another report has shown.

    A rule that raises is itself a violation and blocks everything: what cannot be judged is not admitted.
    """
    view = ReportView(report, parity)
    hits = apply_all(view)
    hits += unlike_stated(view, hits)
    asserted = asserted_names(report)
    broken = [hit for hit in hits if hit.is_violation(asserted)]
    blockers = blockers_of(report.claims, hits, extra)
    for hit in broken:
        if hit.severity == "invalid":
            for codes in blockers.values():
                codes.add(hit.rule.code)
    outside = tuple(violation.replace(claims=among(violation.claims, asserted)) for violation in extra)
    severities = {hit.severity for hit in broken} | {severity_of(violation) for violation in extra}
    claims = tuple(_judge_claim(claim, blockers[claim.name]) for claim in report.claims)
    violations = outside + violations_of(broken, asserted)
    told = {violation.code for violation in violations}
    silent = [hit for hit in hits if hit.rule.code not in told]
    reasons = reasons_of(silent, [claim.name for claim in claims if claim.status == "withheld"])
    return Judgement(report, verdict_of(severities), violations, claims, reasons)


def conclude(report: Report, parity: frozenset[str] = frozenset()) -> Report:
    """`report` with every claim its rows can carry, each admitted or withheld, and the gate block that says so.

    `parity` is as for `judge`.
    """
    asserted = tuple(claim.replace(status="claimed") for claim in propose(report))
    bare = report.replace(claims=asserted, gate=None)
    view = ReportView(bare, parity)
    hits = apply_all(view)
    blockers = blockers_of(bare.claims, hits, ())
    settled = tuple(
        claim.replace(
            status="withheld" if blockers[claim.name] else "admitted", withheld_by=tuple(sorted(blockers[claim.name]))
        )
        for claim in bare.claims
    )
    final = judge(bare.replace(claims=settled), parity=parity)
    gate = GateBlock(rule_set=RULE_SET, verdict=final.verdict, violations=final.violations)
    return bare.replace(claims=settled, gate=gate)


def _judge_claim(claim: Claim, codes: set[str]) -> JudgedClaim:
    asserted = claim.status != "withheld"
    status: Status = "admitted" if asserted and not codes else "withheld"
    return JudgedClaim(
        name=claim.name, metric=claim.metric, value=claim.value, status=status, withheld_by=tuple(sorted(codes))
    )
