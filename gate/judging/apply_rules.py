"""Applying every rule to a report: what they hit, how gravely, and which claims it stands in the way of."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gate.judging.plugin_rules import plugin_rules
from gate.judging.rule_set import all_rules
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import ClaimCheck, Finding, Rule, Severity
from reports.records.claims import BaseClaim, Claim
from reports.untrusted.one_line import one_line

MOST_FINDINGS = 1000
"""Of one check. What is broken in a row is broken in every row, and a few findings are shown; all would fill memory."""


@dataclass(frozen=True)
class RuleHit:
    """A finding with its rule and the claims it blocks (all of them, asserted or not)."""

    rule: Rule
    finding: Finding
    blocked: tuple[str, ...]
    crashed: bool = False

    @property
    def severity(self) -> Severity:
        """How grave this finding is; most are as grave as their rule."""
        return self.finding.severity or self.rule.severity

    def is_violation(self, asserted: frozenset[str]) -> bool:
        """Broken evidence always is one; what only stands in the way of a claim is one if the claim is made."""
        broken = self.rule.claim is None and not self.finding.outcome
        return broken or self.crashed or any(name in asserted for name in self.blocked)


def apply_all(view: ReportView) -> list[RuleHit]:
    """Every finding of every rule, in the order of their codes; then those of plug-ins."""
    hits: list[RuleHit] = []
    claims = [(claim.metric, claim) for claim in view.report.claims]
    for rule in (*all_rules(), *plugin_rules()):
        if rule.evidence is not None:
            found, crash = _guarded(rule.evidence, view)
            for finding in found:
                hits.append(RuleHit(rule, finding, _blocked(rule, finding, view)))
            if crash is not None:
                hits.append(_crashed(rule, crash, view))
        elif rule.claim is not None:
            touched = [claim for metric, claim in claims if metric in rule.blocks]
            if touched:
                hits += _apply_claim(rule, rule.claim, view, touched)
    return hits


def _apply_claim(rule: Rule, check: ClaimCheck, view: ReportView, touched: Sequence[Claim]) -> list[RuleHit]:
    """Findings of a claim rule; one that several claims share is one finding."""
    merged: dict[Finding, list[str]] = {}
    crashed = []
    for claim in touched:
        found, crash = _guarded(check, view, claim)
        for finding in found:
            merged.setdefault(finding, []).append(claim.name)
        if crash is not None:
            crashed.append(_crashed(rule, crash, view))
    return crashed + [RuleHit(rule, finding, tuple(dict.fromkeys(names))) for finding, names in merged.items()]


def _guarded(check: Callable[..., Iterator[Finding]], *given: Any) -> tuple[list[Finding], Exception | None]:
    """What was found, and what went wrong: a crash must not become an acquittal, nor lose what was found before."""
    found: list[Finding] = []
    try:
        found.extend(islice(check(*given), MOST_FINDINGS))
    except Exception as error:
        return found, error
    return found, None


def _crashed(rule: Rule, error: Exception, view: ReportView) -> RuleHit:
    message = f"the rule itself failed ({type(error).__name__}: {error}); what cannot be judged is not admitted"
    severity: Severity = "withheld" if rule.of_plugin else "invalid"
    return RuleHit(rule, Finding(message, severity=severity), names_of(view.report.claims), crashed=True)


def _blocked(rule: Rule, finding: Finding, view: ReportView) -> tuple[str, ...]:
    """Broken evidence carries nothing; else the rule's metrics, of the claims that rest on the place of the finding."""
    claims = view.report.claims
    if (finding.severity or rule.severity) == "invalid":
        return names_of(claims)
    if finding.claim is not None:
        return tuple(claim.name for claim in claims if claim.name == finding.claim)
    touched: Iterable[Claim] = (claim for claim in claims if claim.metric in rule.blocks)
    if finding.arm in view.names_under_test:
        touched = (claim for claim in touched if finding.arm in (claim.arm, claim.baseline))
    return names_of(touched)


def spelled_out(messages: Iterable[str], shown: int, length: int) -> str:
    """The first `shown` distinct messages, each of `length` characters at most, and how many others there are."""
    distinct = list(dict.fromkeys(messages))
    more = f" (and {len(distinct) - shown} more like these)" if len(distinct) > shown else ""
    return "; ".join(one_line(message, length) for message in distinct[:shown]) + more


def names_of(claims: Iterable[BaseClaim]) -> tuple[str, ...]:
    """Names of the claims, in order."""
    return tuple(claim.name for claim in claims)
