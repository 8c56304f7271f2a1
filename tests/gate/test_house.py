"""The house of the gate: packages in one order, no cycle, no family of rules that borrows from another."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gate
from gate.judging.rule_set import all_rules

GATE = Path(gate.__file__).parent
FLOORS = ("rulebook", "figures", "claims", "rules", "judging", "explain", "ledger", "render")
"""From the ground up: a package imports none above it."""

MODULES = {
    ".".join(path.relative_to(GATE.parent).with_suffix("").parts): path
    for path in sorted(GATE.rglob("*.py"))
    if path.name != "__init__.py"
}


def imported_by(module: str) -> Iterator[str]:
    """Modules of the gate that `module` imports, anywhere in it."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
            yield from (name for name in names if name in MODULES)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


IMPORTS = {module: set(imported_by(module)) for module in MODULES}
HOMES = {(rule.evidence or rule.claim).__module__ for rule in all_rules() if rule.evidence or rule.claim}
"""Modules that hold a rule."""


def floor(module: str) -> int:
    return FLOORS.index(module.split(".")[1])


@pytest.mark.parametrize("module", MODULES)
def test_no_arrow_leads_up(module: str) -> None:
    assert {name for name in IMPORTS[module] if floor(name) > floor(module)} == set()


@pytest.mark.parametrize("package", sorted({name.rpartition(".")[0] for name in MODULES} | {"gate"}))
def test_no_arrow_leads_back(package: str) -> None:
    """Among the parts of a package, modules and packages alike."""
    parts: dict[str, set[str]] = {}
    for module in (name for name in MODULES if name.startswith(f"{package}.")):
        inside = (name for name in IMPORTS[module] if name.startswith(f"{package}."))
        part = part_of(module, package)
        parts.setdefault(part, set()).update(name for one in inside if (name := part_of(one, package)) != part)
    assert list(TopologicalSorter(parts).static_order())


def part_of(module: str, package: str) -> str:
    return module.removeprefix(f"{package}.").split(".")[0]


def test_no_package_holds_more_than_a_dozen_modules() -> None:
    for folder in (GATE, *(path for path in GATE.rglob("*") if path.is_dir())):
        held = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(held) <= 12, folder


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("gate.rules.")])
def test_rules_share_helpers_of_their_family_and_no_rules(module: str) -> None:
    family = module.rpartition(".")[0]
    for name in (one for one in IMPORTS[module] if one.startswith("gate.rules.")):
        assert name.startswith(f"{family}."), f"{name} is of another family"
        assert name not in HOMES, f"{name} holds a rule"
