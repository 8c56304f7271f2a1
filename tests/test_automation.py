"""The hook, the action and the workflow of the repository do what they say: their commands are run here."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from reports.report import report_bytes
from tests.gate.honest import Setup, honest_code, honest_parity

ROOT = Path(__file__).resolve().parents[1]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
WORKFLOW = WORKFLOWS["ci"]
NOXFILE = ast.parse((ROOT / "noxfile.py").read_text())


def execute(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run in `folder` as a runner would: with `k3` of this environment on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(name="checkout")
def user_checkout(tmp_path: Path) -> Path:
    """A user's repository with one good report."""
    folder = tmp_path / "my reports"
    folder.mkdir()
    (folder / "good.json").write_bytes(report_bytes(honest_parity(Setup(samples=5))))
    (tmp_path / "README.md").write_text("No marked figure.\n")
    return tmp_path


def spoil(checkout: Path) -> None:
    report = honest_code(Setup(samples=5, draft_arms=("ngram",)))
    claims = tuple(claim.replace(value=50.0) for claim in report.claims)
    (checkout / "my reports" / "bad.json").write_bytes(report_bytes(report.replace(claims=claims)))
    (checkout / "README.md").write_text("1.6x <!-- k3: gone.json sha256:0123456789ab /claims/0/value -->\n")


def test_the_hooks_run_and_fail_on_what_is_broken(checkout: Path) -> None:
    reports = checkout / "my reports"
    gate, ledger = (shlex.split(HOOKS[name]["entry"]) for name in ("k3-gate", "k3-ledger"))
    assert execute([*gate, str(reports / "good.json")], checkout).returncode == 0
    assert execute([*ledger, "README.md"], checkout).returncode == 0
    spoil(checkout)
    assert execute([*gate, str(reports / "good.json"), str(reports / "bad.json")], checkout).returncode == 2
    assert execute([*ledger, "README.md"], checkout).returncode == 2


def test_the_hook_takes_reports_and_nothing_else() -> None:
    files = re.compile(HOOKS["k3-gate"]["files"])
    assert files.search("reports/evidence/run.json")
    assert files.search("reports/bench.jsonl")
    assert not files.search("reports/report.py")
    assert not files.search("package.json")
    for hook in HOOKS.values():
        assert hook["language"] == "python"


def steps() -> dict[str, dict[str, Any]]:
    return {step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]}


def run_step(name: str, checkout: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action with its inputs, defaults filled in, as a composite action's bash step."""
    values = {key: value["default"] for key, value in ACTION["inputs"].items()} | inputs
    variables = {key: values[re.findall(r"inputs\.([\w-]+)", text)[0]] for key, text in steps()[name]["env"].items()}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()[name]["run"]]
    return execute(command, checkout, GITHUB_STEP_SUMMARY=str(checkout / "summary.md"), **variables)


def test_the_action_judges_annotates_and_summarises(checkout: Path) -> None:
    fine = run_step("Judge reports", checkout, paths="\nmy reports\n")
    assert (fine.returncode, fine.stdout) == (0, "")
    assert "1 admissible" in (checkout / "summary.md").read_text()
    spoil(checkout)
    broken = run_step("Judge reports", checkout, paths="my reports/good.json\nmy reports/bad.json")
    assert broken.returncode == 2
    assert broken.stdout.startswith("::error file=my reports/bad.json,title=")


def test_the_action_obeys_its_other_inputs(checkout: Path) -> None:
    (checkout / "taken back.toml").write_text("broken")
    refused = run_step("Judge reports", checkout, paths="my reports", retractions="taken back.toml")
    assert refused.returncode == 3
    assert run_step("Judge reports", checkout, paths="my reports", format="json").stdout.startswith("[")
    assert run_step("Judge reports", checkout, paths="").returncode == 64
    assert run_step("Check the figures in prose", checkout, ledger="README.md").returncode == 3
    spoil(checkout)
    assert run_step("Check the figures in prose", checkout, ledger="README.md\nmy reports").returncode == 2


def test_the_action_caches_what_it_installs_by_its_content(checkout: Path, tmp_path: Path) -> None:
    source = tmp_path / "k3"
    for name in ("pyproject.toml", "constraints.txt", "harness/__init__.py", "harness/base/__init__.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    shutil.copy(ROOT / "harness" / "base" / "source_code.py", source / "harness" / "base")

    def digest() -> str:
        (tmp_path / "output").write_text("")
        command = [
            "bash",
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            steps()["Digest what would be installed"]["run"],
        ]
        done = execute(command, checkout, GITHUB_ACTION_PATH=str(source), GITHUB_OUTPUT=str(tmp_path / "output"))
        assert done.returncode == 0, done.stderr
        return (tmp_path / "output").read_text()

    first = digest()
    assert re.fullmatch(r"digest=[0-9a-f]{64}-[0-9a-f]{64}\n", first)
    assert digest() == first
    (source / "constraints.txt").write_text("")
    second = digest()
    (source / "harness" / "more.py").write_text("x = 1\n")
    assert len({first, second, digest()}) == 3
    cache = steps()["actions/cache@v5"]["with"]
    assert "${{ steps.k3.outputs.digest }}" in cache["key"]
    assert cache["path"] == "${{ runner.temp }}/k3-gate"
    for name in ("Install K3", "Put K3 on the path"):
        assert "$RUNNER_TEMP/k3-gate" in steps()[name]["run"]


def test_inputs_of_the_action_are_not_read_as_scripts_or_options(checkout: Path) -> None:
    hostile = run_step("Judge reports", checkout, paths='$(touch pwned)\n"; touch pwned; "\n--help')
    assert hostile.returncode == 3
    assert not (checkout / "pwned").exists()
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_workflow_runs_the_command_of_the_readme_and_judges_the_evidence() -> None:
    readme = [line.strip() for line in (ROOT / "README.md").read_text().splitlines()]
    commands = [step["run"] for step in WORKFLOW["jobs"]["tests"]["steps"] if "run" in step]
    assert len(commands) == 1
    assert commands[0] in readme
    (judge,) = (step for step in WORKFLOW["jobs"]["evidence"]["steps"] if step["uses"] == "./")
    assert set(judge["with"]) <= set(ACTION["inputs"])
    for name in (judge["with"]["paths"], *judge["with"]["ledger"].split()):
        assert (ROOT / name).exists(), name


def test_workflows_may_read_only_but_the_one_that_pushes_answers_and_pin_what_they_use() -> None:
    may = {name: workflow["permissions"]["contents"] for name, workflow in WORKFLOWS.items()}
    assert {name for name, right in may.items() if right != "read"} == {"k3-bridge"}
    assert all(len(workflow["permissions"]) == 1 for workflow in WORKFLOWS.values())
    jobs = [*(job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()), ACTION["runs"]]
    used = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]
    assert all(name == "./" or re.search(r"@v\d", name) for name in used)


def test_every_version_is_tested_on_both_systems() -> None:
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix == {"os": ["ubuntu-latest", "macos-latest"], "python": ["3.11", "3.12", "3.13", "3.14"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r"Python :: 3\.\d", text)]
    assert named == matrix["python"]
    assert project["requires-python"] == f">={named[0]}"


def test_workflows_and_ci_run_sessions_that_exist() -> None:
    sessions = {node.name for node in NOXFILE.body if isinstance(node, ast.FunctionDef) and node.decorator_list}
    texts = [
        step["run"]
        for workflow in WORKFLOWS.values()
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    called = {
        name
        for text in [*texts, (ROOT / ".ci" / "run").read_text()]
        for names in re.findall(r"nox -s ([\w ]+)", text)
        for name in names.split()
    }
    assert called <= sessions
    assert {"tests", "torch", "lint", "types", "light", "lowest", "bench"} <= called
