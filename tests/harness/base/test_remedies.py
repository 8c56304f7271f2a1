"""What to do about a missing package works from where K3 was installed: it is on no index."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import harness
from harness.base.remedies import (
    ATTEST_MODULES,
    ATTEST_REMEDY,
    GPU_MODULES,
    GPU_REMEDY,
    HTTP_MODULES,
    HTTP_REMEDY,
    PAGE_MODULES,
    PAGE_REMEDY,
    RUN_MODULES,
    RUN_REMEDY,
    SERVE_MODULES,
    SERVE_REMEDY,
    SWEEP_MODULES,
    SWEEP_REMEDY,
    TORCH_REMEDY,
    remedy_of,
)
from harness.commands.doctor import _needs

ROOT = Path(harness.__file__).parent


def test_no_remedy_asks_an_index_for_k3() -> None:
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "k3[" not in text, path
        assert "pip install k3" not in text, path


def test_doctor_asks_for_torch_only_where_no_logits_are_recorded() -> None:
    needs = {need.command: need for need in _needs({}) if need.needs == "torch"}
    assert "k3 models verify" not in needs
    assert "k3 models verify, of a model without recorded logits" in needs


def test_whatever_is_imported_comes_with_the_gate_or_is_told_by_its_extra() -> None:
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]
    named = {
        text.partition(">")[0].partition("[")[0].removesuffix("-py").replace("-", "_")
        for text in project["dependencies"]
    }
    known = named | set(sys.stdlib_module_names) | {"harness", "gate", "reports", "workloads"}
    imported = {name for folder in ("harness", "gate", "reports", "workloads") for name in tops(ROOT.parent / folder)}
    extras = {*RUN_MODULES, *SERVE_MODULES, *HTTP_MODULES, *PAGE_MODULES, *SWEEP_MODULES, *ATTEST_MODULES}
    extras |= {*GPU_MODULES, "torch"}
    assert imported - known == extras


def tops(folder: Path) -> set[str]:
    """The first parts of all names imported anywhere in `folder`."""
    nodes = [node for file in folder.rglob("*.py") for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize(
    ("module", "remedy"),
    [
        ("mlx.core", RUN_REMEDY),
        ("numpy", RUN_REMEDY),
        ("matplotlib.figure", PAGE_REMEDY),
        ("httpx", HTTP_REMEDY),
        ("torch", TORCH_REMEDY),
        ("grpc.aio", SERVE_REMEDY),
        ("distributed.client", SWEEP_REMEDY),
        ("cryptography.exceptions", ATTEST_REMEDY),
        ("pynvml", GPU_REMEDY),
        ("mlxtend", None),
        (None, None),
    ],
)
def test_a_missing_module_is_told_by_the_extra_that_brings_it(module: str | None, remedy: str | None) -> None:
    assert remedy_of(module) == remedy
