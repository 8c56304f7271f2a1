"""Scripts are run seldom and by hand: what they import must be there all the same."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("harness", "gate", "workloads", "reports")
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))


def names_in(module: Path) -> set[str]:
    """Whatever a module binds anywhere: definitions, assignments and imports."""
    bound: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return bound


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_a_script_imports_is_there(script: Path) -> None:
    missing = []
    for node in ast.walk(ast.parse(script.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.module is None or node.module.split(".")[0] not in FOLDERS:
            continue
        place = ROOT / node.module.replace(".", "/")
        module = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        known = names_in(module) if module.exists() else set()
        beside = {file.stem for file in place.iterdir()} if place.is_dir() else set()
        missing += [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in known | beside]
    assert not missing
