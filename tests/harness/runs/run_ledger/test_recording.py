"""What a report says of the runs before it, and that a ledger which cannot be written stops no run."""

from pathlib import Path

import pytest

from harness.commands.run.rounds import run_rounds
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan
from harness.plans.preset_file import load_preset
from harness.runs.run_ledger.history import mends, places
from harness.runs.run_ledger.ledger_file import FILE_NAME, read_ledger, state_folder
from harness.runs.run_ledger.opt_out import leaving_out
from harness.runs.run_ledger.recording import in_ledger, installed_at, recorded
from reports.content_digest import content_digest
from reports.journal import journal_of
from reports.records.drafter_parity import ParityBlock, ParityResult
from reports.records.provenance import RunLedger, SourceCode
from reports.report import Report, report_bytes
from tests.harness.runs.skeletons import MODEL, OTHER, provenance, skeleton


def plan(*overrides: str) -> Plan:
    return plan_of(load_preset("demo", list(overrides)))


def measured(of: Plan, out: Path, report: Report | None = None) -> Report:
    """A run that ends in `report`, or in one of the plan's digest."""
    with recorded(of, out) as run:
        return run.ended(report or skeleton(of.digest()))


def ledger_of(report: Report) -> RunLedger:
    assert report.run_ledger is not None
    return report.run_ledger


def interrupted(of: Plan, out: Path, error: type[BaseException] = KeyboardInterrupt) -> None:
    with pytest.raises(error), recorded(of, out):
        raise error


def on_a_full_disk(of: Plan, out: Path) -> None:
    with recorded(of, out) as run:
        run.ended(skeleton(of.digest()))
        raise OSError("full")


def test_the_first_run_knows_of_no_other(tmp_path: Path) -> None:
    told = ledger_of(measured(plan(), tmp_path / "a.json"))
    chain = read_ledger(state_folder())
    assert (told.state, told.entries, told.earlier, told.unfinished) == ("recorded", 1, (), 0)
    assert told.head == chain.entries[0].digest
    assert told.begun_at == chain.entries[0].entry.at
    assert (len(chain.entries), mends(chain)) == (2, (0, 0))


def test_later_runs_name_the_earlier_ones_and_say_what_they_share(tmp_path: Path) -> None:
    first = measured(plan(), tmp_path / "a.json")
    seed = measured(plan("seed=7", "samples=3", "processes=1"), tmp_path / "b.json")
    told = ledger_of(measured(plan(), tmp_path / "c.json"))
    assert [(run.report, run.plan) for run in told.earlier] == [
        (content_digest(first), "same"), (content_digest(seed), "alike")
    ]  # fmt: skip


@pytest.mark.parametrize(("proposed", "agreed"), [((1, 2), True), ((1, 3), False)])
def test_a_comparison_says_whether_it_found_its_runtimes_equal(tmp_path: Path, proposed, agreed: bool) -> None:
    block = ParityBlock(sample=0, block=0, context_tokens=5, reference_tokens=(1, 2), candidate_tokens=proposed)
    found = ParityResult(reference_runtime="torch", candidate_runtime="mlx", blocks=(block,))
    measured(plan(), tmp_path / "a.json", skeleton(plan().digest(), parity=found))
    (earlier,) = ledger_of(measured(plan(), tmp_path / "b.json")).earlier
    assert earlier.agreed is agreed


def test_the_ledger_tells_where_a_report_was_written_and_no_report_does(tmp_path: Path) -> None:
    out = tmp_path / "a folder, 100 % \udcff" / "a.json"
    first = measured(plan(), out)
    second = measured(plan(), tmp_path / "b.json")
    assert places(read_ledger(state_folder())) == {
        content_digest(first): out,
        content_digest(second): tmp_path / "b.json",
    }
    assert tmp_path.name not in report_bytes(second).decode()


def test_another_setting_or_other_weights_are_another_plan(tmp_path: Path) -> None:
    measured(plan("max_new_tokens=11"), tmp_path / "a.json")
    trained = provenance(models=(MODEL.replace(weights=OTHER),))
    measured(plan(), tmp_path / "b.json", skeleton(plan().digest(), provenance=trained))
    assert ledger_of(measured(plan(), tmp_path / "c.json")).earlier == ()


@pytest.mark.parametrize(
    "override",
    ["minutes=3", "memory_gb=1", "until_width=0.1", "arms.identity.label=other", "seed=7", "processes=1", "repeats=2"],
)
def test_what_measures_nothing_makes_no_other_plan(tmp_path: Path, override: str) -> None:
    first = measured(plan(override), tmp_path / "a.json")
    (earlier,) = ledger_of(measured(plan(), tmp_path / "b.json")).earlier
    assert earlier.report == content_digest(first)


def test_the_same_weights_in_another_folder_are_the_same_plan(tmp_path: Path) -> None:
    first = measured(plan("model=smollm2-135m"), tmp_path / "a.json")
    (earlier,) = ledger_of(measured(plan(), tmp_path / "b.json")).earlier
    assert earlier.report == content_digest(first)


def test_a_copy_of_ones_own_prompts_is_the_same_plan(tmp_path: Path) -> None:
    """Copied, and laid out otherwise: the earlier run is seen. Other prompts are another plan."""
    one, copy, other = (tmp_path / name for name in ("one.jsonl", "copy.jsonl", "other.jsonl"))
    one.write_text('{"text": "def area(radius):", "group": "a"}\n')
    copy.write_text('\n{"group":"a",  "text":"def area(radius):"}\n\n')
    other.write_text('{"text": "def circle(radius):", "group": "a"}\n')

    def asking(file: Path) -> Plan:
        return plan_of(load_preset("code-tiny", ["samples=1", f"workload.prompts={file}"]))

    first = measured(asking(one), tmp_path / "a.json")
    one.unlink()
    (earlier,) = ledger_of(measured(asking(copy), tmp_path / "b.json")).earlier
    assert (earlier.report, earlier.plan) == (content_digest(first), "same")
    assert ledger_of(measured(asking(other), tmp_path / "c.json")).earlier == ()


def test_prompts_that_vanish_in_a_run_lose_nothing(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text('{"text": "def area(radius):"}\n')
    asked = plan_of(load_preset("code-tiny", ["samples=1", f"workload.prompts={own}"]))
    with recorded(asked, tmp_path / "a.json") as run:
        own.unlink()
        assert ledger_of(run.ended(skeleton("sha256:" + "a" * 64))).state == "recorded"


def test_another_version_of_k3_is_told_apart(tmp_path: Path) -> None:
    measured(plan(), tmp_path / "a.json")
    newer = provenance(source=SourceCode(git_commit="b" * 40, dirty=False))
    told = ledger_of(measured(plan(), tmp_path / "b.json", skeleton(plan().digest(), provenance=newer)))
    assert [run.plan for run in told.earlier] == ["other_code"]


def test_a_run_that_measures_is_recorded(tmp_path: Path) -> None:
    """What every run is wrapped in, whatever its kind, with all of its rounds."""
    report = in_ledger(lambda of, out, progress: skeleton(of.digest()))(plan(), tmp_path / "a.json", lambda *told: None)
    assert ledger_of(report).state == "recorded"
    assert run_rounds.__wrapped__.__module__ == run_rounds.__module__  # type: ignore[attr-defined]


def test_a_resumed_run_is_one_run(tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    interrupted(plan(), out)
    journal_of(out).write_bytes(b"rows")
    told = ledger_of(measured(plan(), out))
    assert (told.earlier, told.unfinished) == ((), 0)
    assert [one.entry.kind for one in read_ledger(state_folder()).entries] == ["start", "end", "resume", "end"]


def test_a_report_that_could_not_be_written_and_was_made_again_is_one(tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    journal_of(out).write_bytes(b"rows")
    with pytest.raises(OSError, match="full"):
        on_a_full_disk(plan(), out)
    again = measured(plan(), out)
    (earlier,) = ledger_of(measured(plan(), tmp_path / "b.json")).earlier
    assert earlier.report == content_digest(again)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_runs_without_a_report_are_counted(tmp_path: Path, error: type[BaseException]) -> None:
    interrupted(plan(), tmp_path / "a.json", error)
    interrupted(plan("seed=9"), tmp_path / "b.json", error)
    interrupted(plan("max_new_tokens=11"), tmp_path / "c.json", error)
    told = ledger_of(measured(plan(), tmp_path / "d.json"))
    assert (told.earlier, told.unfinished) == ((), 2)


def test_a_torn_line_is_told_in_the_next_report(tmp_path: Path) -> None:
    measured(plan(), tmp_path / "a.json")
    with (state_folder() / FILE_NAME).open("ab") as file:
        file.write(b'{"previous":"sha256:')
    told = ledger_of(measured(plan(), tmp_path / "b.json"))
    assert (told.torn, told.broken, len(told.earlier)) == (1, 0, 1)


def test_a_ledger_that_was_deleted_begins_anew_and_says_when(tmp_path: Path) -> None:
    measured(plan(), tmp_path / "a.json")
    (state_folder() / FILE_NAME).unlink()
    told = ledger_of(measured(plan(), tmp_path / "b.json"))
    assert (told.entries, told.earlier) == (1, ())
    assert told.begun_at is not None
    assert told.installed_at == installed_at()


def test_who_opts_out_is_not_recorded_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with leaving_out():
        assert ledger_of(measured(plan(), tmp_path / "a.json")) == RunLedger(state="opted_out")
    monkeypatch.setenv("K3_NO_LEDGER", "1")
    assert ledger_of(measured(plan(), tmp_path / "a.json")) == RunLedger(state="opted_out")
    assert not state_folder().exists()
    monkeypatch.setenv("K3_NO_LEDGER", "0")
    assert ledger_of(measured(plan(), tmp_path / "a.json")).state == "recorded"
    assert capsys.readouterr().err == ""


def test_a_folder_that_cannot_be_written_stops_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("K3_STATE", str(tmp_path / "file" / "state"))
    assert ledger_of(measured(plan(), tmp_path / "a.json")) == RunLedger(state="unwritable")
    (line,) = capsys.readouterr().err.splitlines()
    assert "the run ledger cannot be written (Not a directory); the run goes on" in line


def test_a_home_that_nobody_has_stops_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("K3_STATE", "~no-such-user/state")
    assert ledger_of(measured(plan(), tmp_path / "a.json")) == RunLedger(state="unwritable")
    (line,) = capsys.readouterr().err.splitlines()
    assert "~no-such-user/state names no home folder" in line


def test_one_that_cannot_be_written_any_more_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with recorded(plan(), tmp_path / "a.json") as run:
        path = state_folder() / FILE_NAME
        path.unlink()
        path.mkdir()
        report = run.ended(skeleton(plan().digest()))
    assert ledger_of(report) == RunLedger(state="unwritable")
    assert len(capsys.readouterr().err.splitlines()) == 1
