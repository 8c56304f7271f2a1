"""The file: writers that are killed or run at once, and folders that cannot be written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.runs.run_ledger.ledger_file import FILE_NAME, append, read_ledger, state_folder
from tests.harness.runs.run_ledger.test_chain import names, start

ROOT = Path(__file__).resolve().parents[4]


def test_the_folder_is_the_users_choice_or_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("K3_STATE", str(tmp_path / "mine"))
    assert state_folder() == tmp_path / "mine"
    monkeypatch.delenv("K3_STATE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert tmp_path in state_folder().parents
    assert state_folder().name == "k3"


def test_a_line_is_there_when_append_returns_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "state"
    digest = append(start(0), folder)
    chain = read_ledger(folder)
    assert (chain.head, names(chain)) == (digest, ["run-0"])
    assert (folder / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(folder)) == [FILE_NAME]


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "state" / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"."):
        append(start(0), tmp_path / "state")
    assert (tmp_path / "elsewhere").read_text() == ""


def test_killed_writers_and_two_at_once_lose_nothing_that_was_acknowledged() -> None:
    command = [sys.executable, "-m", "tests.harness.runs.run_ledger.appenders", "--kills", "20"]
    outcome = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert outcome["kills"] == 20
    assert outcome["acknowledged"] > 20
    assert (outcome["lost"], outcome["tail"], outcome["broken"]) == (0, 0, 0)
