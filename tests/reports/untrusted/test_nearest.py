"""The name that was meant, of words and of paths."""

from pathlib import Path

import pytest

from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.nearest import nearest_path, path_meant
from reports.untrusted.number_of import number_of


def test_a_mistyped_path_is_told_the_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "demo.json").write_text("{}")
    assert nearest_path(tmp_path / "evidnce") == tmp_path / "evidence"
    assert nearest_path(tmp_path / "evidnce" / "demo.json") == tmp_path / "evidence" / "demo.json"
    with pytest.raises(RefusedFileError, match=r"No such file or directory; did you mean .*/evidence/demo.json\?$"):
        read_bounded(tmp_path / "evidence" / "demo.jsn")


@pytest.mark.parametrize("name", ["nope.json", "other/demo.json", "evidnce/other.json"])
def test_an_ending_alone_makes_no_likeness(tmp_path: Path, name: str) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "d.json").write_text("{}")
    assert path_meant(tmp_path / name) == ""


def test_a_count_of_one_is_told_in_the_singular() -> None:
    assert [number_of(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [number_of(count, "process") for count in (1, 2)] == ["1 process", "2 processes"]
