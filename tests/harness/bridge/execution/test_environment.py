"""An environment of a commit's own pins, made without a network: the commit brings what builds its wheel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.bridge.execution.environment import Isolated
from harness.bridge.execution.job import Desk
from harness.bridge.git import Repository
from harness.bridge.manifest import RequestError
from harness.bridge.task import PresetTask, SuiteTask
from tests.harness.bridge.repositories import new_repository

PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[dependency-groups]
test = {}
"""
BACKEND = """import zipfile

FILES = {
    "ofthecommit.py": "a = 1",
    "k3-9.dist-info/METADATA": "Metadata-Version: 2.1\\nName: k3\\nVersion: 9\\n"
    "Provides-Extra: run\\nProvides-Extra: serve\\nProvides-Extra: page\\n",
    "k3-9.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "k3-9.dist-info/RECORD": "",
}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(folder + "/k3-9-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    return "k3-9-py3-none-any.whl"
"""
TASK = PresetTask("parity-tiny-recorded", ())


@pytest.fixture(name="desk")
def desk_with_a_tree(tmp_path: Path) -> Desk:
    desk = Desk(Repository(new_repository(tmp_path / "clone", {"a": "1"})))
    desk.tree.mkdir(parents=True)
    (desk.tree / "pyproject.toml").write_text(PROJECT.format("[]"))
    (desk.tree / "constraints.txt").write_text("k3==9\n")
    (desk.tree / "backend.py").write_text(BACKEND)
    return desk


def build(isolated: Isolated) -> int | None:
    ended = isolated.build({"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}, 600)
    return None if ended is None else ended.exit_code


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_the_commit_runs_with_packages_of_its_own_pins_which_are_kept(
    desk: Desk, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tool == "uv" and shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    if tool == "pip":
        folders = os.environ["PATH"].split(os.pathsep)
        monkeypatch.setenv("PATH", os.pathsep.join(one for one in folders if not (Path(one) / "uv").exists()))
    isolated = Isolated(desk, TASK)
    assert build(isolated) == 0, desk.log.read_text()
    assert ("uv = " in (isolated.folder / "pyvenv.cfg").read_text()) == (tool == "uv")
    told = subprocess.run(
        [isolated.python, "-c", "import sys, ofthecommit; print(sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(told.stdout.strip()) == isolated.folder
    assert str(isolated.folder) != sys.prefix
    made = (isolated.folder / "pyvenv.cfg").stat().st_mtime_ns
    assert build(Isolated(desk, TASK)) == 0
    assert (isolated.folder / "pyvenv.cfg").stat().st_mtime_ns == made
    (desk.tree / "constraints.txt").write_text("k3==8\n")
    assert Isolated(desk, TASK).folder != isolated.folder


@pytest.mark.parametrize(
    ("project", "told"),
    [(None, "pyproject.toml"), ("[x", "no dependency group"), (PROJECT.format('["--index-url=evil"]'), "no list")],
)
def test_a_commit_of_which_no_environment_can_be_made_is_refused(desk: Desk, project: str | None, told: str) -> None:
    if project is None:
        (desk.tree / "pyproject.toml").unlink()
    else:
        (desk.tree / "pyproject.toml").write_text(project)
    with pytest.raises(RequestError, match=told):
        Isolated(desk, SuiteTask("tests"))
