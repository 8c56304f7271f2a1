"""Where retractions are looked for."""

from pathlib import Path

import pytest

from gate.judging import retractions_in_force
from gate.judging.retractions_in_force import RetractionFinder, _below

ENTRY = '[[retraction]]\nreport_id = "r"\nreason = "wrong"\ndate = 2026-01-02\n'


def test_files_named_one_by_one_are_not_each_held_to_every_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "RETRACTIONS.toml").write_text(ENTRY)
    held = []
    monkeypatch.setattr(retractions_in_force, "_below", lambda folder, top: held.append(top) or _below(folder, top))
    named = [tmp_path / f"{number}.json" for number in range(100)]
    finder = RetractionFinder(named)
    assert [len(finder.in_force(path)) for path in named] == [1] * 100
    assert len(held) == 101


@pytest.mark.parametrize("named", ["//x", "//", "/x", "/"])
@pytest.mark.parametrize("start", ["/", "/usr"])
def test_the_root_is_reached_however_many_slashes_lead_to_it(
    named: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(start)
    assert RetractionFinder([Path(named)]).in_force(Path(named)) == ()


def test_two_leading_slashes_hide_no_retraction(tmp_path: Path) -> None:
    (tmp_path / "RETRACTIONS.toml").write_text(ENTRY)
    (below := tmp_path / "below").mkdir()
    assert len(RetractionFinder([tmp_path]).in_force(Path(f"/{below}/r.json"))) == 1
