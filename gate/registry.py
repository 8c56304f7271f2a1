"""Where rules register themselves, and the rule set as a whole."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from gate.rule import ALL_METRICS, ClaimCheck, EvidenceCheck, Metric, Rule, Severity

RULE_SET = 2
"""Version of the rule set; raised whenever a rule is added, removed or judges differently."""

_rules: dict[str, Rule] = {}


def _register(rule: Rule) -> None:
    from gate.retired import RETIRED_CODES

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
    since: int = 1,
    severity: Severity = "invalid",
    blocks: tuple[Metric, ...] = ALL_METRICS,
) -> Callable[[EvidenceCheck], EvidenceCheck]:
    """Declare a rule over the rows; it is checked whatever the report claims."""

    def register(check: EvidenceCheck) -> EvidenceCheck:
        _register(Rule(code, title, catches, why, fix, since, severity, blocks, evidence=check))
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
    since: int = 1,
    severity: Severity = "withheld",
) -> Callable[[ClaimCheck], ClaimCheck]:
    """Declare a rule over one claim; it is asked for every claim whose metric is in `blocks`."""

    def register(check: ClaimCheck) -> ClaimCheck:
        _register(Rule(code, title, catches, why, fix, since, severity, blocks, claim=check))
        return check

    return register


def outside_rule(
    code: str, *, title: str, catches: str, why: str, fix: str, severity: Severity, since: int = 1
) -> Rule:
    """Declare a rule that no report alone can break: its violations come from `gate.evidence`."""
    rule = Rule(code, title, catches, why, fix, since, severity, ALL_METRICS)
    _register(rule)
    return rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code. Importing the modules under gate/rules registers them; the result is frozen."""
    import gate.rules

    for module in pkgutil.iter_modules(gate.rules.__path__):
        importlib.import_module(f"gate.rules.{module.name}")
    return tuple(_rules[code] for code in sorted(_rules))


@cache
def _by_code() -> dict[str, Rule]:
    return {rule.code: rule for rule in all_rules()}


def find_rule(code: str) -> Rule | None:
    """The rule with this code, if there is one."""
    return _by_code().get(code)
