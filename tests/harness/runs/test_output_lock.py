"""One process writes one report, and its lock leaves nothing behind."""

import os
from pathlib import Path

import pytest

from harness.base.errors import OutputError
from harness.runs.output_lock import output_lock


def test_a_report_is_written_by_one_at_a_time(tmp_path: Path) -> None:
    with output_lock(tmp_path / "r.json"):
        with pytest.raises(
            OutputError, match=r"r\.json: another process is writing it; wait for it, or choose"
        ) as caught:
            output_lock(tmp_path / "r.json").__enter__()
        assert "\n" not in str(caught.value)
        with output_lock(tmp_path / "s.json"):
            assert len(os.listdir(tmp_path)) == 2
    assert os.listdir(tmp_path) == []


def test_two_names_of_one_folder_are_one_report(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "link").symlink_to("runs")
    with output_lock(tmp_path / "runs" / "r.json"), pytest.raises(OutputError, match="another process"):
        output_lock(tmp_path / "link" / "r.json").__enter__()


def test_what_fails_inside_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="of the body"), output_lock(tmp_path / "r.json"):
        raise OSError("of the body")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_one_line_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot be written \(No such file or directory\); choose another --out"):
        output_lock(tmp_path / "no" / "r.json").__enter__()
    assert os.listdir(tmp_path) == []
