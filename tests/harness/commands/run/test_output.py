"""Where a report goes: refused before anything is loaded if it could not be written there."""

from pathlib import Path

import pytest

from harness.base.errors import OutputError
from harness.base.provenance import read_host, read_packages, read_source
from harness.cli import run
from harness.commands.run.output import check_output, choose_output
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset
from harness.runs.journal import Journal
from reports.journal import MeasuredRow, journal_of
from reports.report import write_report
from tests.gate.honest import Setup, honest_niah, measured_niah
from tests.harness.commands.tiny_runs import tiny_model


def begin(out: Path, **changes: object) -> None:
    """A run that was killed after a row: its journal beside `out`."""
    report = measured_niah(Setup(samples=1, repeats=1))
    assert report.provenance is not None
    begun = report.replace(
        arms=tuple(arm.replace(measurements=(), stream_audit=None) for arm in report.arms),
        provenance=report.provenance.replace(**changes),
    )
    with Journal.open(begun, out) as journal:
        journal.append(MeasuredRow(arm=report.arms[0].name, row=report.arms[0].measurements[0]))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no/r.json", "its folder does not exist"),
        (".", "is a folder"),
        ("notes.json", "is not the report of this run"),
        ("finished.json", "is not the report of this run"),
        ("older.json", "older K3 did not finish"),
        ("damaged.json", "line 1: is no line of a journal"),
        ("/proc/r.json", "cannot be written"),
        ("/dev/null", "is not the report of this run"),
    ],
)
def test_an_output_that_cannot_be_is_told_before_anything_is_loaded(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("this system has no such folder")
    (tmp_path / "notes.json").write_text("mine")
    (tmp_path / "damaged.json.rows").write_text("mine\n")
    write_report(honest_niah(Setup(samples=1, repeats=1)), tmp_path / "finished.json")
    write_report(measured_niah(Setup(samples=1, repeats=1)), tmp_path / "older.json")
    assert run(["niah", "--model", str(tmp_path), "--out", str(tmp_path / name)]) == 3
    with pytest.raises(OutputError, match=said):
        check_output(tmp_path / name)
    assert (tmp_path / "notes.json").read_text() == "mine"
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unfinished_run_and_a_new_file_are_taken(tmp_path: Path) -> None:
    check_output(tmp_path / "new.json")
    assert list(tmp_path.iterdir()) == []
    begin(tmp_path / "begun.json")
    check_output(tmp_path / "begun.json")


@pytest.mark.parametrize("changed", ["source", "host", "packages"])
def test_a_run_begun_by_other_code_or_elsewhere_is_left_alone_and_the_next_name_taken(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(load_preset("recall-smollm2"))
    here = {"source": read_source(), "host": read_host(), "packages": read_packages()}
    first = choose_output(plan, None)
    begin(first, **{name: value for name, value in here.items() if name != changed})
    second = choose_output(plan, None)
    assert second != first
    begin(second, **here)
    assert choose_output(plan, None) == second
    journal_of(second).write_bytes(b"damaged\n")
    assert choose_output(plan, None) not in (first, second)


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
