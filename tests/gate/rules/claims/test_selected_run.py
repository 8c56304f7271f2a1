"""RUN_SELECTED: one run of several is shown with the others, or carries no claim."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest

from gate.judging.batch import Judge, iterate_paths, judge_paths
from gate.judging.judge import conclude, judge
from gate.judging.judged_file import JudgedFile, exit_code
from gate.render.outcome import outcome_lines
from reports.content_digest import content_digest
from reports.records.provenance import EarlierRun, RunLedger
from reports.report import Report, report_bytes
from reports.retractions import FILE_NAME
from tests.gate.honest import Setup, honest_code, honest_parity

FIRST = honest_parity(Setup(samples=5))
Likeness = Literal["same", "alike", "other_code"]


def run_before(digest: str, plan: Likeness = "same", agreed: bool | None = None) -> EarlierRun:
    return EarlierRun(report=digest, plan=plan, ended_at=datetime(2026, 11, 28, tzinfo=UTC), agreed=agreed)


def after(*earlier: EarlierRun) -> Report:
    """A run of the plan of `FIRST` that came after these."""
    ledger = RunLedger(state="recorded", head=f"sha256:{'c' * 64}", entries=4, earlier=earlier)
    return conclude(FIRST.replace(run_ledger=ledger))


SECOND = after(run_before(content_digest(FIRST)))


@pytest.fixture(name="folder")
def folder_of_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "runs" / "old").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "old" / "first.json").write_bytes(report_bytes(FIRST))
    (tmp_path / "runs" / "second.json").write_bytes(report_bytes(SECOND))
    return tmp_path / "runs"


def of_second(files: list[JudgedFile]) -> JudgedFile:
    return next(file for file in files if file.path.endswith("second.json"))


def test_a_run_that_is_the_first_of_its_plan_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(report_bytes(after()))
    assert Judge().read(tmp_path / "run.json").judged.verdict == "admissible"


@pytest.mark.parametrize("state", ["opted_out", "unwritable"])
def test_a_run_that_no_ledger_knows_is_judged_as_before(state) -> None:
    assert judge(conclude(FIRST.replace(run_ledger=RunLedger(state=state)))).verdict == "admissible"


def test_a_report_out_of_several_that_stands_alone_carries_no_claim(folder: Path) -> None:
    (file,) = judge_paths([folder / "second.json"])
    (violation,) = file.violations
    assert (violation.code, violation.found) == ("RUN_SELECTED", "1 unseen")
    assert set(violation.claims) == {claim.name for claim in SECOND.claims}
    assert (file.verdict, exit_code([file]), file.headlines) == ("withheld", 2, ())
    assert {claim.status for claim in file.claims} == {"withheld"}


def test_who_ran_it_just_now_broke_no_rule_and_may_quote_nothing(folder: Path) -> None:
    (file,) = judge_paths([folder / "second.json"])
    assert (file.as_own.verdict, exit_code([file.as_own]), file.as_own.headlines) == ("admissible", 0, ())
    assert file.as_own.withheld == file.claims
    text = "\n".join("".join(span for span, _ in line) for line in outcome_lines(file))
    assert text.startswith("Nothing may be quoted from this report yet.\nWITHHELD: ")
    assert "this is run 2 of its plan on its machine" in text


def test_what_else_is_wrong_with_a_run_out_of_several_is_a_fault_of_who_ran_it(folder: Path) -> None:
    edited = SECOND.replace(gate=SECOND.gate.replace(verdict="invalid") if SECOND.gate is not None else None)
    (folder / "second.json").write_bytes(report_bytes(edited))
    (file,) = judge_paths([folder / "second.json"])
    assert (file.verdict, exit_code([file.as_own])) == ("invalid", 2)
    assert "RUN_SELECTED" in {violation.code for violation in file.violations}


def test_a_folder_that_holds_them_all_is_satisfied(folder: Path) -> None:
    assert exit_code(judge_paths([folder])) == 0
    assert {read.judged.verdict for read in iterate_paths([folder])} == {"admissible"}
    assert of_second(judge_paths([folder])).headlines


def test_one_beside_it_is_found_without_being_named(folder: Path) -> None:
    (folder / "old" / "first.json").rename(folder / "first.json")
    assert Judge().read(folder / "second.json").judged.verdict == "admissible"


def test_an_elder_that_was_edited_is_another_report(folder: Path) -> None:
    assert FIRST.plan is not None
    edited = FIRST.replace(plan=FIRST.plan.replace(max_new_tokens=99))
    (folder / "old" / "first.json").write_bytes(report_bytes(edited))
    assert of_second(judge_paths([folder])).verdict == "withheld"


def test_an_elder_that_was_taken_back_is_named(folder: Path) -> None:
    (folder / "old" / "first.json").unlink()
    (folder / FILE_NAME).write_text(
        f'[[retraction]]\ndigest = "{content_digest(FIRST)}"\nreason = "A build ran beside it."\ndate = 2026-11-29\n'
    )
    assert of_second(judge_paths([folder])).verdict == "admissible"


def test_the_finding_says_how_many_are_missing_and_which(folder: Path) -> None:
    digests = [f"sha256:{digit * 64}" for digit in "2345"]
    several = after(run_before(content_digest(FIRST)), *(run_before(digest, "alike") for digest in digests))
    (folder / "second.json").write_bytes(report_bytes(several))
    (violation,) = of_second(judge_paths([folder])).violations
    named = ", ".join(f"sha256:{digit * 64} of 2026-11-28 00:00" for digit in "234")
    assert "this is run 6 of its plan on its machine, and the reports of 4 earlier runs" in violation.message
    assert violation.message.endswith(f"cannot be seen here ({named} and 1 more)")


def test_runs_by_another_version_of_k3_are_told_and_bar_nothing(folder: Path) -> None:
    (folder / "second.json").write_bytes(report_bytes(after(run_before("sha256:" + "9" * 64, "other_code"))))
    assert of_second(judge_paths([folder])).verdict == "admissible"


@pytest.mark.parametrize(("agreed", "verdict"), [(True, "admissible"), (False, "withheld"), (None, "withheld")])
def test_a_comparison_that_found_both_runtimes_equal_need_not_be_shown(folder: Path, agreed, verdict) -> None:
    """It says what the later one says. One that found a difference, and was left out, is what the rule is for."""
    (folder / "second.json").write_bytes(report_bytes(after(run_before("sha256:" + "9" * 64, agreed=agreed))))
    (file,) = judge_paths([folder / "second.json"])
    assert file.verdict == verdict


def test_no_timed_run_is_excused_by_the_word_of_a_comparison(tmp_path: Path) -> None:
    earlier = (run_before("sha256:" + "9" * 64, agreed=True),)
    timed = honest_code(Setup()).replace(run_ledger=RunLedger(state="recorded", entries=4, earlier=earlier))
    (tmp_path / "timed.json").write_bytes(report_bytes(conclude(timed)))
    assert "RUN_SELECTED" in {one.code for one in Judge().read(tmp_path / "timed.json").judged.violations}
