"""A run that is not the first of its plan: judged with what the ledger finds, and what to do without it."""

import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.judging.batch import Judge
from gate.judging.judge import conclude
from harness.cli import run
from harness.commands.run.earlier_runs import EarlierRuns
from harness.runs.run_ledger.entries import RunEnded
from harness.runs.run_ledger.ledger_file import append, state_folder
from reports.content_digest import content_digest
from reports.records.provenance import EarlierRun, RunLedger
from reports.report import Report, report_bytes
from reports.retractions import FILE_NAME
from tests.gate.honest import Setup, honest_niah

AT = datetime(2026, 11, 28, tzinfo=UTC)
FIRST = honest_niah(Setup(samples=6))


def after(*earlier: Report) -> Report:
    named = tuple(EarlierRun(report=content_digest(one), plan="same", ended_at=AT) for one in earlier)
    return conclude(FIRST.replace(run_ledger=RunLedger(state="recorded", entries=4, earlier=named)))


SECOND = after(FIRST)


def written(report: Report, path: Path) -> Path:
    """The report at `path`, and the line of the ledger that says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(report_bytes(report))
    digest = content_digest(report)
    append(RunEnded(at=AT, run=digest, how="report", report=digest, written=path.absolute().as_uri()), state_folder())
    return path


@pytest.fixture(name="first")
def first_run(tmp_path: Path) -> Path:
    return written(FIRST, tmp_path / "a folder" / "k3-runs" / "demo-1.json")


@pytest.fixture(name="second")
def second_run(tmp_path: Path, first: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In another folder, which is where its user sits."""
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    return written(SECOND, Path("k3-runs") / "demo-1.json")


def command_in(line: str) -> list[str]:
    return shlex.split(line.split("`")[1])[1:]


def test_one_that_is_where_it_was_written_is_judged_with_it_and_named(first: Path, second: Path) -> None:
    earlier = EarlierRuns()
    file = earlier.judged(second)
    assert file.verdict == "admissible"
    assert file.headlines
    assert file.headlines == Judge().read(first).judged.headlines
    told, how = earlier.lines([second])
    assert told == f"Not the first run on this machine: judged together with '{first}'."
    assert run(command_in(how)) == 0
    assert run(["gate", "check", str(second)]) == 2


def test_of_several_the_first_is_named_and_all_are_judged(first: Path, tmp_path: Path) -> None:
    other = written(SECOND, tmp_path / "c" / "other.json")
    third = written(after(FIRST, SECOND), tmp_path / "d" / "third.json")
    earlier = EarlierRuns()
    assert earlier.judged(third).verdict == "admissible"
    told, how = earlier.lines([third])
    assert told.endswith(f"{shlex.quote(str(first))} and 1 more.")
    assert str(other) in how
    assert run(command_in(how)) == 0


def test_one_that_was_moved_is_told_with_the_command_that_judges_both(
    first: Path, second: Path, tmp_path: Path
) -> None:
    shutil.move(first.parent, tmp_path / "elsewhere")
    earlier = EarlierRuns()
    assert (earlier.judged(second).headlines, earlier.found) == ((), [])
    gone, moved, _ = earlier.lines([second])
    assert gone == f"The report of the run of 2026-11-28 00:00 UTC is no longer at '{first}'."
    assert run([str(tmp_path / "elsewhere") if one == "WHERE_IT_IS_NOW" else one for one in command_in(moved)]) == 0


def test_one_that_was_deleted_is_named_in_a_retractions_file_by_the_lines_that_are_printed(
    first: Path, second: Path
) -> None:
    shutil.rmtree(first.parent)
    earlier = EarlierRuns()
    assert earlier.judged(second).verdict == "withheld"
    _, _, how = earlier.lines([second])
    assert how.startswith(f"If it is deleted, add this to {second.parent / FILE_NAME} with the reason, then ")
    (second.parent / FILE_NAME).write_text("\n".join(earlier.retractions()))
    assert run(command_in(how)) == 0
    assert EarlierRuns().judged(second).headlines


def test_where_one_is_there_and_one_is_deleted_the_way_out_names_the_one_that_is_there(
    first: Path, second: Path, tmp_path: Path
) -> None:
    third = written(after(FIRST, SECOND), tmp_path / "third" / "k3-runs" / "demo.json")
    shutil.rmtree(first.parent)
    earlier = EarlierRuns()
    assert earlier.judged(third).verdict == "withheld"
    how = list(earlier.lines([third]))[-1]
    (third.parent / FILE_NAME).write_text("\n".join(earlier.retractions()))
    assert run(command_in(how)) == 0
    assert EarlierRuns().judged(third).headlines


def test_one_that_was_overwritten_is_gone(first: Path, second: Path) -> None:
    first.write_bytes(report_bytes(after()))
    earlier = EarlierRuns()
    assert (earlier.judged(second).verdict, earlier.found) == ("withheld", [])


def test_without_a_ledger_nothing_is_found_and_the_way_out_is_told(second: Path) -> None:
    shutil.rmtree(state_folder())
    earlier = EarlierRuns()
    assert earlier.judged(second).verdict == "withheld"
    assert "is nowhere the run ledger tells of" in next(earlier.lines([second]))
    assert f'digest = "{content_digest(FIRST)}"' in earlier.retractions()


def test_the_first_run_of_a_plan_is_told_nothing(first: Path) -> None:
    earlier = EarlierRuns()
    assert earlier.judged(first).headlines
    assert list(earlier.lines([first])) == []
