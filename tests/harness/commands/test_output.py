"""Where a report goes: refused before anything is loaded if it could not be written there."""

from pathlib import Path

import pytest

from harness.base.errors import OutputError
from harness.base.progress import silent
from harness.base.provenance import read_source
from harness.cli import run
from harness.commands.run import eval as eval_module
from harness.commands.run.eval import check_output, choose_output, measure
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset
from reports.report import Report, write_report
from tests.gate.honest import Setup, honest_niah, measured_niah
from tests.harness.commands.tiny_runs import tiny_model


def begun(rows: bool) -> Report:
    """A report of a run that was stopped: before its first row, or after its last."""
    report = measured_niah(Setup(samples=1, repeats=1))
    assert report.plan is not None
    if rows:
        return report
    arms = tuple(arm.replace(measurements=(), stream_audit=None) for arm in report.arms)
    return report.replace(arms=arms, plan=report.plan.replace(order=(), complete=False))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no/r.json", "its folder does not exist"),
        (".", "is a folder"),
        ("notes.json", "is no unfinished run"),
        ("finished.json", "is no unfinished run"),
        ("/proc/r.json", "cannot be written"),
        ("/dev/null", "is no unfinished run"),
    ],
)
def test_an_output_that_cannot_be_is_told_before_anything_is_loaded(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("this system has no such folder")
    (tmp_path / "notes.json").write_text("mine")
    write_report(honest_niah(Setup(samples=1, repeats=1)), tmp_path / "finished.json")
    assert run(["niah", "--model", str(tmp_path), "--out", str(tmp_path / name)]) == 3
    with pytest.raises(OutputError, match=said):
        check_output(tmp_path / name)
    assert (tmp_path / "notes.json").read_text() == "mine"
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unfinished_run_and_a_new_file_are_taken(tmp_path: Path) -> None:
    check_output(tmp_path / "new.json")
    assert list(tmp_path.iterdir()) == []
    write_report(begun(rows=True), tmp_path / "begun.json")
    check_output(tmp_path / "begun.json")


def test_a_run_begun_by_other_code_is_left_alone_and_the_next_name_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(load_preset("recall-smollm2"))
    first = choose_output(plan, None)
    theirs = begun(rows=True)
    assert theirs.provenance is not None
    write_report(theirs, first)
    second = choose_output(plan, None)
    assert second != first
    write_report(theirs.replace(provenance=theirs.provenance.replace(source=read_source())), second)
    assert choose_output(plan, None) == second


@pytest.mark.parametrize(("rows", "said"), [(False, "nothing is kept"), (True, "runs are kept in")])
def test_an_interruption_says_what_was_kept(
    rows: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.json"
    write_report(begun(rows), out)

    def interrupted(*_: object) -> Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(eval_module, "run_plan", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(plan_of(load_preset("recall-smollm2")), out, silent)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("layers", ["2", "0,7", "-1"])
def test_layers_that_are_not_there_are_told_before_the_weights_are_loaded(
    layers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tiny_model(tmp_path / "tiny")
    assert run(["niah", "--model", str(model), f"--exact-layers={layers}", "--out", str(tmp_path / "r.json")]) == 64
    err = capsys.readouterr().err
    assert "arms.identity.exact_layers" in err
    assert "has layers 0 to 1" in err
    assert err.count("\n") == 1
