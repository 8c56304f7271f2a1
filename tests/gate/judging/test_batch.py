import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.judging.batch import Judge, iterate_paths, judge_paths
from gate.judging.judge import conclude
from gate.judging.judged_file import JudgedFile, exit_code, tally
from gate.rules.parity.shown_parity import parity_shown
from reports.report import Report, report_bytes
from reports.retractions import FILE_NAME, RetractionsError
from tests.gate.edits import dated
from tests.gate.honest import Setup, honest_parity, measured_code

REPORT = honest_parity(Setup(samples=6))
CLAIM = REPORT.claims[0].name


def retraction(line: str = f'report_id = "{REPORT.report_id}"') -> str:
    return f'[[retraction]]\n{line}\nreason = "The drafter\\nwas the verifier."\ndate = 2026-11-29\n'


@pytest.fixture(name="folder")
def evidence_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one admissible report in a sub-folder; the working directory is elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    folder = tmp_path / "evidence"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "good.json").write_bytes(report_bytes(REPORT))
    return folder


def judged(*paths: Path, named: tuple[Path, ...] = ()) -> dict[str, JudgedFile]:
    return {Path(file.path).name: file for file in judge_paths(paths, named)}


def codes(file: JudgedFile) -> list[str]:
    return [violation.code for violation in file.violations]


def test_a_good_report_is_admissible(folder: Path) -> None:
    (file,) = judge_paths([folder])
    assert (file.verdict, file.source, file.kind, file.schema_version) == ("admissible", "k3", "parity", 2)
    assert [admitted.claim.name for admitted in file.headlines] == [CLAIM]
    assert exit_code([file]) == 0


def test_hostile_files_get_a_finding_each_and_the_rest_is_judged(folder: Path) -> None:
    (folder / "deep.json").write_text("[" * 10_000 + "]" * 10_000)
    (folder / "latin.json").write_bytes(b'{"kind": "niah\xff"}')
    (folder / "huge-integer.json").write_text('{"kind": "niah", "schema_version": ' + "9" * 5000 + "}")
    (folder / "nan.json").write_text('{"kind": "niah", "schema_version": NaN}')
    (folder / "twice.json").write_text('{"kind": "niah", "kind": "code", "schema_version": 2}')
    (folder / "empty.json").write_text("")
    (folder / "package.json").write_text('{"name": "not evidence"}')
    (folder / "folder.json").mkdir()
    (folder / "loop.json").symlink_to(folder / "loop.json")
    os.mkfifo(folder / "pipe.json")
    with (folder / "large.json").open("wb") as file:
        file.truncate(2**30)
    files = judged(folder, folder / "vanished.json")
    unopened = {name for name, each in files.items() if not each.opened}
    assert unopened == {"folder.json", "loop.json", "pipe.json", "vanished.json"}
    for name, each in files.items():
        if name in ("good.json", "package.json"):
            assert each.violations == ()
        else:
            assert len(each.violations) == 1
            assert each.violations[0].message.isprintable()
            assert each.verdict == ("not_evidence" if name in unopened else "invalid"), name
    assert list(files.values()) == sorted(files.values(), key=lambda each: each.path)
    assert exit_code(files.values()) == 2
    assert tally(files.values()) == "13 files: 1 admissible, 7 invalid, 1 not evidence, 4 unreadable"


def test_unopened_files_alone_are_3_and_a_violation_beside_them_is_2(folder: Path) -> None:
    assert exit_code(judge_paths([folder, folder / "gone.json"])) == 3
    (folder / "bad.json").write_text("{")
    assert exit_code(judge_paths([folder, folder / "gone.json"])) == 2


def test_legacy_alone_is_a_warning(folder: Path) -> None:
    (folder / "old.json").write_text('{"schema_version": 1, "kind": "niah", "arms": []}')
    files = judged(folder)
    assert files["old.json"].verdict == "legacy"
    assert codes(files["old.json"]) == ["LEGACY_SCHEMA"]
    assert exit_code(files.values()) == 0


@pytest.mark.parametrize("place", ["evidence/sub", "evidence"])
def test_a_retraction_near_the_report_is_found(folder: Path, place: str) -> None:
    (folder.parent / place / FILE_NAME).write_text(retraction())
    (file,) = judge_paths([folder])
    assert (file.verdict, codes(file), file.headlines) == ("withheld", ["RETRACTED"], ())
    assert file.claims[0].withheld_by == ("RETRACTED",)
    assert "2026-11-29" in file.violations[0].message
    assert file.violations[0].message.isprintable()
    assert exit_code([file]) == 2


def test_a_retraction_above_the_given_path_is_not_in_force(folder: Path) -> None:
    (folder.parent / FILE_NAME).write_text(retraction())
    assert exit_code(judge_paths([folder])) == 0


def test_up_to_the_working_directory_every_folder_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILE_NAME).write_text(retraction())
    report = Path("sub", "good.json")
    assert exit_code(judge_paths([folder / report])) == 0
    monkeypatch.chdir(folder)
    assert exit_code(judge_paths([report])) == 2
    assert exit_code(judge_paths([folder / report])) == 2


def test_a_named_retractions_file_is_in_force_everywhere(folder: Path, tmp_path: Path) -> None:
    named = tmp_path / "elsewhere" / "taken-back.toml"
    named.write_text(retraction())
    assert codes(judged(folder, named=(named,))["good.json"]) == ["RETRACTED"]


def test_only_the_named_claim_is_retracted(folder: Path) -> None:
    report = dated(REPORT, datetime(2026, 11, 30, tzinfo=UTC))
    (folder / "sub" / "good.json").write_bytes(report_bytes(report))
    (folder / FILE_NAME).write_text(retraction(f'report_id = "{report.report_id}"\nclaims = ["{CLAIM}"]'))
    assert judged(folder)["good.json"].claims[0].withheld_by == ("RETRACTED",)


def test_a_misspelt_claim_retracts_everything(folder: Path) -> None:
    (folder / FILE_NAME).write_text(retraction(f'report_id = "{REPORT.report_id}"\nclaims = ["drafter_paritty/mlx"]'))
    assert judged(folder)["good.json"].headlines == ()


def test_a_digest_retracts_a_file_that_is_no_report(folder: Path) -> None:
    import hashlib

    (folder / "page.json").write_text('{"name": "x"}')
    digest = hashlib.sha256(b'{"name": "x"}').hexdigest()
    (folder / FILE_NAME).write_text(retraction(f'digest = "sha256:{digest}"'))
    assert codes(judged(folder)["page.json"]) == ["RETRACTED"]


@pytest.mark.parametrize("text", ["[[retraction]]\n", "not toml", retraction('digest = "sha256:0"')])
def test_a_broken_retractions_file_stops_everything(folder: Path, text: str) -> None:
    (folder / FILE_NAME).write_text(text)
    with pytest.raises(RetractionsError, match=FILE_NAME):
        list(judge_paths([folder]))


def test_a_dangling_link_is_a_broken_retractions_file(folder: Path) -> None:
    (folder / FILE_NAME).symlink_to(folder / "nowhere")
    with pytest.raises(RetractionsError):
        list(judge_paths([folder]))


def test_a_folder_is_looked_at_once(folder: Path) -> None:
    judge = Judge([folder])
    assert judge.read(folder / "sub" / "good.json").judged.verdict == "admissible"
    (folder / FILE_NAME).write_text(retraction())
    assert judge.read(folder / "sub" / "good.json").judged.verdict == "admissible"


def leaning_on_parity() -> Report:
    """A fused report that was concluded beside `REPORT`, the parity of its drafter."""
    measured = measured_code(Setup(samples=6, draft_arms=("dflash",))).replace(parity=None)
    return conclude(measured, parity=parity_shown(REPORT))


SPEEDUP = "decode_speedup/fused_dflash"


def status(files: Iterable[JudgedFile]) -> str:
    return next(claim.status for file in files for claim in file.claims if claim.name == SPEEDUP)


@pytest.mark.parametrize("place", ["sub", "other"])
def test_a_parity_report_among_the_files_carries_the_drafter_of_another(folder: Path, place: str) -> None:
    (folder / "other").mkdir()
    path = folder / place / "code.json"
    path.write_bytes(report_bytes(leaning_on_parity()))
    assert status(judge_paths([folder])) == "admitted"
    assert status(read.judged for read in iterate_paths([folder])) == "admitted"
    alone = judge_paths([path])
    assert status(alone) == ("admitted" if place == "sub" else "withheld")
    (folder / FILE_NAME).write_text(retraction())
    assert status(judge_paths([folder])) == "withheld"
