"""From what rules found to violations, to the claims that are blocked, and to a verdict."""

from collections.abc import Iterable

from gate.judging.apply_rules import RuleHit, spelled_out
from gate.judging.rule_set import find_rule
from gate.rulebook.rule import Severity
from reports.records.claims import BaseClaim
from reports.records.verdict import Verdict, Violation
from reports.report import Report

SHOWN_FINDINGS = 3
"""Findings of one rule that its violation spells out; the rest is counted."""

MESSAGE_LENGTH = 400
"""Characters of one finding's message."""


def asserted_names(report: Report) -> frozenset[str]:
    """Names of the claims that the report makes; those it withholds itself are not among them."""
    return frozenset(claim.name for claim in report.claims if claim.status != "withheld")


def blockers_of(
    claims: Iterable[BaseClaim], hits: Iterable[RuleHit], extra: Iterable[Violation]
) -> dict[str, set[str]]:
    """Codes that block each claim, asserted or not."""
    claims = tuple(claims)
    blockers: dict[str, set[str]] = {claim.name: set() for claim in claims}
    for code, names in [(hit.rule.code, hit.blocked) for hit in hits] + [(v.code, v.claims) for v in extra]:
        for name in names:
            if name in blockers:
                blockers[name].add(code)
    return blockers


def violations_of(broken: Iterable[RuleHit], asserted: frozenset[str]) -> tuple[Violation, ...]:
    """One violation a rule: a broken row repeats itself in every row, and a reader needs the rule once."""
    by_code: dict[str, list[RuleHit]] = {}
    for hit in broken:
        by_code.setdefault(hit.rule.code, []).append(hit)
    return tuple(_violation(hits, asserted) for hits in by_code.values())


def _violation(hits: list[RuleHit], asserted: frozenset[str]) -> Violation:
    """The place and numbers of the first finding; the messages of the first few, and how many there are."""
    first = hits[0].finding
    return Violation(
        code=hits[0].rule.code,
        message=spelled_out((hit.finding.message for hit in hits), SHOWN_FINDINGS, MESSAGE_LENGTH),
        claims=among(dict.fromkeys(name for hit in hits for name in hit.blocked), asserted),
        arm=first.arm,
        sample=first.sample,
        field=first.field,
        found=first.found,
        allowed=first.allowed,
    )


def among(names: Iterable[str], asserted: frozenset[str]) -> tuple[str, ...]:
    """Those of the names that are asserted, in order."""
    return tuple(name for name in names if name in asserted)


def severity_of(violation: Violation) -> Severity:
    """How grave a violation from outside the rows is; a code that nobody knows is as grave as can be."""
    rule = find_rule(violation.code)
    return rule.severity if rule is not None else "invalid"


def verdict_of(severities: set[Severity]) -> Verdict:
    """The verdict by the gravest severity."""
    for verdict in ("legacy", "invalid", "withheld"):
        if verdict in severities:
            return verdict
    return "admissible"
