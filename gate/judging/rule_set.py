"""The rule set as a whole: every rule that is declared anywhere under gate/rules."""

import importlib
import pkgutil
from functools import cache

import gate.rules
from gate.judging.plugin_rules import plugin_rules
from gate.rulebook.registry import registered
from gate.rulebook.rule import Rule
from reports.plugins.entry_points import is_plugin_id

RULE_SET = 8
"""Version of the rule set; raised whenever a rule is added, removed or judges differently."""


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule that ships, by code. Importing the modules under gate/rules registers them; the result is frozen."""
    for module in pkgutil.walk_packages(gate.rules.__path__, "gate.rules."):
        importlib.import_module(module.name)
    rules = registered()
    return tuple(rules[code] for code in sorted(rules))


def known_rules() -> tuple[Rule, ...]:
    """Every rule that ships, then those of plug-ins."""
    return (*all_rules(), *plugin_rules())


@cache
def _by_code() -> dict[str, Rule]:
    return {rule.code: rule for rule in all_rules()}


def find_rule(code: str) -> Rule | None:
    """The rule with this code, if there is one, a plug-in's too."""
    if is_plugin_id(code):
        return next((rule for rule in plugin_rules() if rule.code == code), None)
    return _by_code().get(code)
