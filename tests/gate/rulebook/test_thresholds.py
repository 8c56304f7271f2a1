"""The thresholds that a rule declares are those that its check, and all it calls, uses: no more and no fewer."""

import ast
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

import gate
from gate.judging.rule_set import all_rules
from gate.rulebook import thresholds
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Rule
from gate.rulebook.thresholds import AnyThreshold, Threshold
from reports.reading.reader import evidence_of
from reports.report import Report
from reports.scoring import collapse
from tests.gate.cases.all_cases import all_cases

GATE = Path(gate.__file__).parent
RULES = all_rules()


def used_by(function: Callable[..., Any], seen: set[object]) -> set[str]:
    """Names of the thresholds to which `function`, or anything of ours that it refers to, refers."""
    function = inspect.unwrap(function)
    if function in seen or not isinstance(function, FunctionType):
        return set()
    seen.add(function)
    found: set[str] = set()
    names = list(names_in(function.__code__))
    for target in targets(function, names):
        if isinstance(target, Threshold):
            found.add(target.name)
        elif isinstance(target, FunctionType) and is_ours(target):
            found |= used_by(target, seen)
        elif inspect.isclass(target) and is_ours(target):
            for member in list(vars(target).values()):  # reading a record may complete its class
                method = member.fget if isinstance(member, property) else getattr(member, "func", member)
                found |= used_by(method, seen) if callable(method) else set()
    if function.__module__ == collapse.__name__:  # the numbers stand there, for the workloads; the gate describes them
        found |= {name for name in names if isinstance(vars(thresholds).get(name), Threshold)}
    return found


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def targets(function: FunctionType, names: list[str]) -> Iterator[object]:
    """What the names stand for: a global, what a global container holds, or a part of a module that is named, too."""
    for name in names:
        found = function.__globals__.get(name)
        if isinstance(found, ModuleType):
            yield from (vars(found).get(part) for part in names)
        elif isinstance(found, dict):
            yield from found.values()
        elif isinstance(found, tuple | list | set | frozenset):
            yield from found
        else:
            yield found


def is_ours(target: FunctionType | type) -> bool:
    return target.__module__.split(".")[0] in ("gate", "reports")


@cache
def found_in_code(rule: Rule) -> frozenset[str]:
    check = rule.evidence or rule.claim
    return frozenset(used_by(check, set()) if check is not None else ())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.code))
def test_a_rule_declares_the_thresholds_it_uses_and_no_others(rule: Rule) -> None:
    declared = [threshold.name for threshold in rule.thresholds]
    assert sorted(declared) == sorted(found_in_code(rule))


def test_what_rules_read_while_they_run_is_found_in_their_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search above is itself tested: on its own bad case no rule reads a threshold that it does not see."""
    read: set[str] = set()

    def noted(self: AnyThreshold, name: str) -> Any:
        if name == "value":
            read.add(object.__getattribute__(self, "name"))
        return object.__getattribute__(self, name)

    told: set[str] = set()
    monkeypatch.setattr(Threshold, "__getattribute__", noted)
    for rule in (one for one in RULES if one.evidence or one.claim):
        report = evidence_of(json.dumps(all_cases()[rule.code].bad).encode(), Path("bad.json")).outcome
        assert isinstance(report, Report)
        read.clear()
        view = ReportView(report)
        if rule.evidence is not None:
            list(rule.evidence(view))
        elif rule.claim is not None:
            for claim in (one for one in report.claims if one.metric in rule.blocks):
                list(rule.claim(view, claim))
        assert read <= found_in_code(rule), rule.code
        told |= read
    assert len(told) > len({one.name for rule in RULES for one in rule.thresholds}) / 2


def declared_in_gate() -> dict[str, tuple[str, Threshold[Any]]]:
    """Every threshold by the name of its variable, with the module that declares it."""
    found: dict[str, tuple[str, Threshold[Any]]] = {}
    for info in pkgutil.walk_packages(gate.__path__, "gate."):
        module = importlib.import_module(info.name)
        tree = ast.parse(Path(str(module.__file__)).read_text())
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = vars(module)[node.targets[0].id]
                if isinstance(value, Threshold):
                    assert node.targets[0].id not in found
                    found[node.targets[0].id] = (module.__name__, value)
    return found


def test_a_threshold_is_named_as_its_variable_and_tells_unit_meaning_and_source() -> None:
    for variable, (_, threshold) in declared_in_gate().items():
        assert threshold.name == variable
        assert threshold.unit
        assert threshold.meaning.endswith(".")
        assert threshold.source
        assert not threshold.source.endswith(".")


def test_every_threshold_decides_and_stands_in_its_one_place() -> None:
    """With its rule if one rule uses it; in the rulebook if several do."""
    users: dict[str, list[Rule]] = {}
    for rule in RULES:
        for threshold in rule.thresholds:
            users.setdefault(threshold.name, []).append(rule)
    for name, (home, _) in declared_in_gate().items():
        assert name in users, f"{name} decides nothing"
        if home != thresholds.__name__:
            check = users[name][0].evidence or users[name][0].claim
            assert len(users[name]) == 1, f"{name} is shared; it belongs in {thresholds.__name__}"
            assert check is not None
            assert check.__module__.rpartition(".")[0] == home.rpartition(".")[0], name


@pytest.mark.parametrize("path", sorted((GATE / "rules").rglob("*.py")), ids=lambda path: path.stem)
def test_no_rule_decides_by_a_number_without_a_name(path: Path) -> None:
    """A fraction in a rule, beside one in the declaration of a threshold, is a threshold in hiding."""
    tree = ast.parse(path.read_text())
    declared = {
        id(part)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Threshold"
        for part in ast.walk(call)
    }
    hidden = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and id(node) not in declared
    }
    assert hidden <= {0.0, 1.0, 1e3, 1e6}  # none, all, and milliseconds and megabytes in messages
