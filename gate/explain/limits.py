"""Which thresholds a rule uses: found in its code, so that documentation cannot name others."""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gate.rulebook import thresholds
from gate.rulebook.rule import Rule
from reports import scoring

_HOMES: tuple[ModuleType, ...] = (thresholds, scoring)
"""Where thresholds live: those of the gate, and those that workloads score with too."""


@dataclass(frozen=True)
class Limit:
    """A named constant of gate.rulebook.thresholds, with its value and what its docstring says."""

    name: str
    value: float
    meaning: str


def limits_of(rule: Rule) -> tuple[Limit, ...]:
    """Thresholds that the check of `rule`, or a function that it calls, refers to by name; sorted."""
    check = rule.evidence or rule.claim
    names = sorted(_named(check, set())) if check is not None else []
    return tuple(_declared()[name] for name in names)


def _named(function: Callable[..., Any], seen: set[FunctionType]) -> set[str]:
    """Names of thresholds in `function` and in the functions of this package it refers to."""
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType) or function in seen:
        return set()
    seen.add(function)
    found: set[str] = set()
    for name in _names(function.__code__):
        if name in _declared():
            found.add(name)
        target = function.__globals__.get(name)
        for callee in _reachable(target, name, function):
            found |= _named(callee, seen)
    return found


def _reachable(target: object, name: str, function: FunctionType) -> Iterator[FunctionType]:
    """What `name` may call: a function imported or defined here, or one of a module of ours used here."""
    if isinstance(target, FunctionType):
        if target.__module__.split(".")[0] in ("gate", "reports"):
            yield target
        return
    for module in function.__globals__.values():
        if inspect.ismodule(module) and module.__name__.startswith("gate.") and module is not thresholds:
            callee = vars(module).get(name)
            if isinstance(callee, FunctionType) and callee.__module__ == module.__name__:
                yield callee


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _declared() -> dict[str, Limit]:
    """The numbers declared in capitals at their homes, with the docstring under each.

    Constants of one group share the docstring under the last of them.
    """
    limits: dict[str, Limit] = {}
    for home in _HOMES:
        waiting: list[str] = []
        for node in ast.parse(inspect.getsource(home)).body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)]) if isinstance(getattr(home, name), int | float):
                    waiting.append(name)
                case ast.Expr(value=ast.Constant(value=str(text))):
                    meaning = " ".join(text.split())
                    limits |= {name: Limit(name, getattr(home, name), meaning) for name in waiting}
                    waiting = []
                case _:
                    waiting = []
    return limits
