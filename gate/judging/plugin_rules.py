"""Rules of plug-ins (`k3.rules`): they may withhold what the shipped ones would admit, and never the reverse.

Each looks at a view of its own, so that nothing it does there reaches another rule, and whatever it finds is at most a
reason to withhold. One that cannot be loaded or used withholds everything: what cannot be judged is not admitted.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import ALL_METRICS, Example, Finding, Rule
from reports.plugins.entry_points import Plugin, PluginError, name_fault, of_group

_TOLD = ("title", "catches", "why", "fix")
Check = Callable[..., Iterator[Finding]]


@cache
def plugin_rules() -> tuple[Rule, ...]:
    """Every rule of an installed plug-in, by code."""
    return tuple(sorted(map(_rule, of_group("rules")), key=lambda rule: rule.code))


def rule_problem(plugin: Plugin) -> str | None:
    """Why the plug-in's rule cannot be used; none if it can."""
    try:
        _loaded(plugin)
    except PluginError as error:
        return str(error)
    return None


def _loaded(plugin: Plugin) -> Rule:
    rule = plugin.load(Rule)
    fault = name_fault(plugin) or _fault(rule, plugin.id)
    if fault is not None:
        raise plugin.error(fault)
    return rule


def _rule(plugin: Plugin) -> Rule:
    try:
        rule = _loaded(plugin)
    except PluginError as error:
        return _unusable(plugin, str(error))
    evidence = _held(rule.evidence, rule.code) if rule.evidence is not None else None
    claim = _held(rule.claim, rule.code) if rule.claim is not None else None
    return replace(rule, severity="withheld", evidence=evidence, claim=claim)


def _fault(rule: Rule, code: str) -> str | None:
    """Why the declaration is none; its code is that of its entry point, so it is no shipped rule's."""
    if rule.code != code:
        return f"its code is {rule.code!r}; a plug-in's is its id, {code}"
    if (rule.evidence is None) == (rule.claim is None):
        return "a rule has one check, evidence or claim"
    if not all(isinstance(getattr(rule, name), str) for name in _TOLD) or not isinstance(rule.example, Example):
        return f"{', '.join(_TOLD)} are texts, and example is an Example"
    if not rule.blocks or not set(rule.blocks) <= set(ALL_METRICS):
        return f"blocks {rule.blocks!r} are not metrics of `k3 gate claims`"
    return None


def _held(check: Check, code: str) -> Check:
    """The check on a view of its own; what it finds is a violation that can be told, and withholds."""

    def checked(view: ReportView, *claim: Any) -> Iterator[Finding]:
        from reports.records.verdict import Violation  # whoever lists rules needs no records

        try:
            for found in check(ReportView(view.report, view.parity), *claim):
                if not isinstance(found, Finding):
                    raise TypeError(f"yielded a {type(found).__name__}, not a Finding")
                fields = ("message", "arm", "sample", "field", "found", "allowed")
                Violation(code=code, **{name: getattr(found, name) for name in fields})
                yield replace(found, severity="withheld", outcome=bool(found.outcome))
        except SystemExit as error:
            raise RuntimeError("it called exit") from error

    return checked


def _unusable(plugin: Plugin, problem: str) -> Rule:
    def withheld(view: ReportView) -> Iterator[Finding]:
        yield Finding(f"{problem}; what cannot be judged is not admitted", severity="withheld")

    return Rule(
        code=plugin.id,
        title="A rule that cannot be used",
        catches="Every report, as long as this plug-in cannot be used.",
        why=problem,
        fix=f"Mend or uninstall {plugin.distribution}.",
        since=1,
        severity="withheld",
        blocks=ALL_METRICS,
        example=Example(bad="the plug-in installed and broken", good="the plug-in mended, or gone"),
        evidence=withheld,
    )
