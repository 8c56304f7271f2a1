"""What the contracts of import-linter in pyproject.toml cannot say of the house."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"torch", "mlx", "mlx_lm", "transformers"}
HEAVY_HOMES = (
    "harness/engines/mlx",
    "harness/engines/torch",
    "harness/checks/mlx",
    "harness/checks/torch",
    "harness/training",
)
FOLDERS = {"harness", "gate", "workloads", "reports"}
MOST_MODULES = 12


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(file: Path, top_only: bool) -> Iterator[str]:
    """Dotted names of modules imported in `file`; with `top_only` those executed when it is imported."""
    nodes: list[ast.AST] = [ast.parse(file.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
        elif not isinstance(node, ast.expr) and not (top_only and is_late(node)):
            nodes += ast.iter_child_nodes(node)


def is_late(node: ast.AST) -> bool:
    """Its body does not run when the module is imported: a function, or a block for type checkers."""
    checking = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return checking or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def test_heavy_modules_are_imported_at_the_top_only_in_their_homes() -> None:
    offenders = {
        f"{file.relative_to(ROOT)}: {name}"
        for folder in FOLDERS
        for file in sources(folder)
        if not file.relative_to(ROOT).as_posix().startswith(HEAVY_HOMES)
        for name in imports(file, top_only=True)
        if name.split(".")[0] in HEAVY
    }
    assert not offenders


def test_clocks_are_read_in_one_place() -> None:
    offenders = {
        str(file.relative_to(ROOT))
        for folder in FOLDERS
        for file in sources(folder)
        if "time" in {name.split(".")[0] for name in imports(file, top_only=False)}
        and file.relative_to(ROOT).as_posix() != "harness/base/clock.py"
    }
    assert not offenders


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["gate", "check", str(ROOT / "reports" / "evidence")], ["gate", "rules"], ["presets", "list"]],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_light_commands_load_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys, io, contextlib\n"
        "from harness.cli import run\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    code = run(sys.argv[1:])\n"
        f"print(code, sorted(set(sys.modules) & {HEAVY | {'pandas', 'cryptography'}!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.split("\n")[-2] == "0 []", done.stderr


def test_no_test_leaves_itself_out_where_a_package_is_missing() -> None:
    """A test that needs PyTorch says so by its marker, and sessions select by that: no failure passes for a skip."""
    found = [file for file in sources("tests") if "pytest.importorskip" in file.read_text() and file != Path(__file__)]
    assert not found


def test_no_package_has_more_modules_than_one_looks_through() -> None:
    counts = Counter(file.parent for folder in FOLDERS for file in sources(folder) if file.name != "__init__.py")
    grown = {package.relative_to(ROOT).as_posix(): count for package, count in counts.items() if count > MOST_MODULES}
    assert not grown
