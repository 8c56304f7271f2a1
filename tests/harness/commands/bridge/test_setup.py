"""`k3 bridge setup` prints what can be parsed, and the workflow that ships; `doctor` tells what is missing."""

import json
import plistlib
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from harness.base.errors import UsageError
from harness.bridge.services import WORKFLOW, launchd_agent, systemd_unit
from harness.cli import run
from tests.harness.bridge.repositories import git, new_remote

ROOT = Path(__file__).resolve().parents[4]


def test_the_workflow_that_ships_is_the_one_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bridge", "setup", "--print", "workflow"]) == 0
    assert capsys.readouterr().out == (ROOT / ".github" / "workflows" / "k3-bridge.yml").read_text()


def test_the_workflow_runs_on_a_mac_of_ones_own_one_at_a_time_and_with_code_of_the_default_branch() -> None:
    workflow = yaml.safe_load(WORKFLOW)
    assert workflow[True]["push"]["branches"] == ["k3-bridge/**"]
    assert workflow["concurrency"] == {"group": "k3-bridge", "cancel-in-progress": False}
    (job,) = workflow["jobs"].values()
    assert job["runs-on"] == ["self-hosted", "macOS", "ARM64"]
    assert job["steps"][0]["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    assert all("${{" not in step.get("run", "") for step in job["steps"])


def test_a_launchd_agent_names_program_and_clone() -> None:
    agent = plistlib.loads(launchd_agent(Path("/a b/<k3>"), Path("/c & d"), 60).encode())
    assert agent["ProgramArguments"] == ["/a b/<k3>", "bridge", "run", "--once"]
    assert (agent["WorkingDirectory"], agent["StartInterval"]) == ("/c & d", 60)


def test_a_systemd_unit_names_program_and_clone_and_refuses_paths_that_it_would_misread() -> None:
    unit = ConfigParser(interpolation=None)
    unit.read_string(systemd_unit(Path("/a b/k3"), Path("/c d"), 60))
    assert unit["Service"]["execstart"] == '"/a b/k3" bridge run --watch 60'
    assert unit["Service"]["workingdirectory"] == "/c d"
    for path in ("/a%h", '/a"b', "/a\nb", "/a$b"):
        with pytest.raises(UsageError, match="plainer"):
            systemd_unit(Path(path), Path("/c"), 60)


def test_doctor_tells_both_sides_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("K3_MAC_26B", str(tmp_path / "nowhere"))
    remote = new_remote(tmp_path, {"a": "1"})
    clone = remote.clone("clone")
    monkeypatch.chdir(clone.root)
    assert run(["bridge", "doctor", "--json"]) == 0
    checks = {check["what"]: check for check in json.loads(capsys.readouterr().out)}
    assert checks["origin takes a push"]["remedy"] == ""
    assert checks["model mac-26b"]["remedy"].startswith("hf download ")
    assert "K3_MAC_26B" in checks["model mac-26b"]["remedy"]
    assert remote.branches() == []
    git(clone.root, "remote", "set-url", "origin", str(tmp_path / "gone"))
    assert run(["bridge", "doctor"]) == 3
    assert capsys.readouterr().out.count("MISSING") == 2
    monkeypatch.chdir(tmp_path)
    assert run(["bridge", "doctor"]) == 3
    assert "a clone of K3" in capsys.readouterr().out
