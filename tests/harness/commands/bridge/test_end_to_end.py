"""Asked in one clone, run by K3's own code in a process of its own in another, fetched and judged in the first."""

import json
import shutil
from pathlib import Path

import pytest

from harness.base.source_code import FOLDERS
from harness.cli import run
from tests.harness.bridge.repositories import git, new_remote
from tests.harness.bridge.stand_in import PRESET, ROOT, executor

LEFT_OUT = shutil.ignore_patterns("evidence", "__pycache__")


def test_a_report_of_the_tiny_model_crosses_the_bridge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    remote = new_remote(tmp_path, {"README.md": "K3\n"})
    asker, clone = remote.clone("asker"), remote.clone("executor")
    git(asker.root, "config", "core.compression", "0")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, asker.root / folder, ignore=LEFT_OUT)
    git(asker.root, "add", "--all")
    git(asker.root, "commit", "--quiet", "--message", "K3")
    monkeypatch.chdir(asker.root)
    assert run(["bridge", "request", "--preset", PRESET, "--set", "samples=1", "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)
    assert run(["bridge", "request", "--suite", "doctor", "--json"]) == 0
    suite = json.loads(capsys.readouterr().out)
    running = executor(clone, "--once")
    _, told = running.communicate(timeout=600)
    assert running.returncode == 0, told
    code = run(["bridge", "fetch", asked["request"], "--wait", "--out", "here", "--json"])
    fetched = json.loads(capsys.readouterr().out)
    assert (code, fetched["outcome"]) == (0, "finished"), fetched
    assert [report["file"] for report in fetched["reports"]] == [f"{PRESET}.json"]
    made = json.loads((asker.root / "here" / f"{PRESET}.json").read_text())
    assert made["provenance"]["source"]["git_commit"] == asked["base"]
    assert made["preset"]["overrides"] == ["samples=1"]
    assert run(["bridge", "fetch", suite["request"], "--out", "doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "finished"
    assert json.loads((asker.root / "doctor" / "doctor.txt").read_text())["cores"]
    assert git(clone.root, "status", "--porcelain") == ""
