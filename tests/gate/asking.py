"""Asking one rule about one report, without the others."""

from gate.claims.propose import propose
from gate.judging.rule_set import find_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Finding
from reports.records.claims import Claim
from reports.report import Report


def ask(
    code: str, report: Report, claim: str | Claim | None = None, parity: frozenset[str] = frozenset()
) -> list[Finding]:
    """What the rule finds: in the rows, or in the way of `claim` (one of the report, else one its rows propose)."""
    rule = find_rule(code)
    assert rule is not None
    if rule.evidence is not None:
        return list(rule.evidence(ReportView(report, parity)))
    assert rule.claim is not None
    assert claim is not None
    asked = named(report, claim) if isinstance(claim, str) else claim
    assert asked.metric in rule.blocks
    return list(rule.claim(ReportView(report, parity), asked))


def named(report: Report, name: str) -> Claim:
    """The claim called so: one of the report, else one its rows propose."""
    return {one.name: one for one in (*propose(report), *report.claims)}[name]


def found(code: str, report: Report, claim: str | Claim | None = None) -> list[str | None]:
    """The numbers found, one a finding."""
    return [finding.found for finding in ask(code, report, claim)]
