"""Where rules register themselves."""

from collections.abc import Callable

from gate.rulebook.retired_codes import RETIRED_CODES
from gate.rulebook.rule import ALL_METRICS, ClaimCheck, EvidenceCheck, Example, Metric, Rule, Severity
from gate.rulebook.thresholds import AnyThreshold

_rules: dict[str, Rule] = {}


def _register(rule: Rule) -> None:
    if rule.code in _rules or rule.code in RETIRED_CODES:
        raise ValueError(f"rule code {rule.code} is taken; a code is never reused")
    _rules[rule.code] = rule


def evidence_rule(
    code: str,
    *,
    title: str,
    catches: str,
    why: str,
    fix: str,
    example: Example,
    thresholds: tuple[AnyThreshold, ...] = (),
    since: int = 1,
    severity: Severity = "invalid",
    blocks: tuple[Metric, ...] = ALL_METRICS,
) -> Callable[[EvidenceCheck], EvidenceCheck]:
    """Declare a rule over the rows; it is checked whatever the report claims."""

    def register(check: EvidenceCheck) -> EvidenceCheck:
        _register(Rule(code, title, catches, why, fix, since, severity, blocks, example, thresholds, evidence=check))
        return check

    return register


def claim_rule(
    code: str,
    *,
    title: str,
    catches: str,
    why: str,
    fix: str,
    blocks: tuple[Metric, ...],
    example: Example,
    thresholds: tuple[AnyThreshold, ...] = (),
    since: int = 1,
    severity: Severity = "withheld",
) -> Callable[[ClaimCheck], ClaimCheck]:
    """Declare a rule over one claim; it is asked for every claim whose metric is in `blocks`."""

    def register(check: ClaimCheck) -> ClaimCheck:
        _register(Rule(code, title, catches, why, fix, since, severity, blocks, example, thresholds, claim=check))
        return check

    return register


def outside_rule(
    code: str, *, title: str, catches: str, why: str, fix: str, example: Example, severity: Severity, since: int = 1
) -> Rule:
    """Declare a rule that no report alone can break: its violations come from `gate.judging.judge_evidence`."""
    rule = Rule(code, title, catches, why, fix, since, severity, ALL_METRICS, example)
    _register(rule)
    return rule


def registered() -> dict[str, Rule]:
    """Rules by code, of the modules imported so far. All of them: `gate.judging.rule_set.all_rules`."""
    return dict(_rules)
