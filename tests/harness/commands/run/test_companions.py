"""A preset that names others beside it: they run first, their reports are judged with its own, and none is lost."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import harness.base.source_code
import harness.engines.mlx
from gate.judging.batch import Judge
from harness.base.errors import OutputError
from harness.cli import run
from harness.commands.run import eval as eval_module
from harness.commands.run.output import choose_output
from harness.commands.run.rounds import run_rounds
from harness.plans.companions import path_beside, plans_beside
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan
from harness.plans.preset_file import load_preset, preset_names
from reports.report import Report, load_report, write_report

PARITY = "parity-tiny-recorded"
ALONE = ("--preset", "demo", "--samples", "1", "--set", f'beside=["{PARITY}"]')


@pytest.fixture(autouse=True)
def clean_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the code had been committed, and run by this command line: what is not citable unlocks nothing."""
    answers = {"rev-parse": "a" * 40, "status": ""}
    monkeypatch.setattr(harness.base.source_code, "_git", lambda root, command, *more: answers[command])
    monkeypatch.setattr(sys, "argv", ["k3", "eval", *ALONE])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's report and its parity beside it."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        answers = {"rev-parse": "a" * 40, "status": ""}
        patch.setattr(harness.base.source_code, "_git", lambda root, command, *more: answers[command])
        patch.setattr(sys, "argv", ["k3", "eval", *ALONE])
        assert run(["eval", *ALONE, "--out", str(folder / "demo.json")]) == 0
    return folder


def withheld(report: Report) -> dict[str, tuple[str, ...]]:
    return {claim.name: claim.withheld_by for claim in report.claims}


def copy_of(finished: Path, folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_bytes((finished / name).read_bytes())
    return folder / "demo.json"


def stopped_before_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends between the parity and the demo itself."""

    def run_or_stop(plan: Plan, *rest: Any) -> Report:
        if plan.preset.name == "demo":
            raise KeyboardInterrupt
        return run_rounds(plan, *rest)

    monkeypatch.setattr(eval_module, "run_rounds", run_or_stop)


def test_both_reports_are_written_and_the_parity_unlocks_the_drafter(finished: Path) -> None:
    assert sorted(path.name for path in finished.iterdir()) == [f"demo-{PARITY}.json", "demo.json"]
    demo, parity = load_report(finished / "demo.json"), load_report(finished / f"demo-{PARITY}.json")
    assert demo.gate is not None
    assert parity.gate is not None
    assert (demo.gate.verdict, parity.gate.verdict) == ("admissible", "admissible")
    assert withheld(parity) == {"drafter_parity/mlx": ()}
    assert parity.parity is not None
    assert parity.parity.recording is not None
    for claim in ("acceptance/fused", "decode_speedup/fused"):
        assert "PARITY_REQUIRED" not in withheld(demo)[claim]
    judged = Judge().read(finished / "demo.json").judged
    assert judged.verdict == "admissible"
    (finished / f"demo-{PARITY}.json").rename(finished / "elsewhere")
    without = Judge().read(finished / "demo.json").judged
    (finished / "elsewhere").rename(finished / f"demo-{PARITY}.json")
    assert any("PARITY_REQUIRED" in claim.withheld_by for claim in without.claims)
    assert parity.preset is not None
    assert demo.preset is not None
    assert (parity.preset.part_of, demo.preset.part_of) == ("demo", None)


def test_the_story_has_all_its_arms(finished: Path) -> None:
    arms = {arm.name: arm for arm in load_report(finished / "demo.json").arms}
    assert {"oracle", "oracle_again", "identity", "ablate", "f_theta", "fused", "needle_free"} == set(arms)
    recalled = {name: [row.correct for row in arm.measurements] for name, arm in arms.items()}
    for name in ("oracle", "oracle_again", "identity", "f_theta", "fused"):
        assert recalled[name] == [True], name
    for name in ("ablate", "needle_free"):
        assert recalled[name] == [False], name


def test_a_run_killed_between_the_two_goes_on_with_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stopped_before_the_demo(monkeypatch)
    assert run(["eval", *ALONE]) == 130
    (parity,) = Path("k3-runs").iterdir()
    before = parity.read_bytes()
    monkeypatch.setattr(eval_module, "run_rounds", run_rounds)
    capsys.readouterr()
    assert run(["eval", *ALONE, "--json"]) == 0
    assert sorted(path.name for path in Path("k3-runs").iterdir()) == sorted(
        [parity.name, parity.name.replace(f"-{PARITY}", "")]
    )
    assert parity.read_bytes() == before
    document = json.loads(capsys.readouterr().out)
    assert [one["report"] for one in document["beside"]] == [str(parity)]
    assert document["beside"][0]["headlines"] == ["HEADLINE drafter_parity/mlx = 1"]
    assert not any("PARITY_REQUIRED" in claim["withheld_by"] for claim in document["claims"])


def test_what_is_finished_has_nothing_to_do(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in finished.iterdir()}
    capsys.readouterr()
    assert run(["eval", *ALONE, "--out", str(finished / "demo.json")]) == 0
    shown = capsys.readouterr()
    assert "demo.json: it is finished; nothing to do" in shown.err
    assert shown.out == ""
    assert {path.name: path.read_bytes() for path in finished.iterdir()} == before


def test_a_parity_that_an_older_k3_did_not_judge_is_refused(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = copy_of(finished, tmp_path, f"demo-{PARITY}.json")
    parity = tmp_path / f"demo-{PARITY}.json"
    write_report(load_report(parity).replace(claims=(), gate=None), parity)
    before = parity.read_bytes()
    assert run(["eval", *ALONE, "--out", str(out)]) == 3
    assert "an older K3 did not finish" in capsys.readouterr().err
    assert parity.read_bytes() == before


@pytest.mark.parametrize("other", ["text", "code", "preset", "edited"])
def test_what_is_not_ours_is_left_alone_and_told_before_anything_runs(
    other: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = copy_of(finished, tmp_path, f"demo-{PARITY}.json")
    parity = tmp_path / f"demo-{PARITY}.json"
    report = load_report(parity)
    assert report.provenance is not None
    assert report.provenance.source is not None
    assert report.preset is not None
    source = report.provenance.source.replace(git_commit="b" * 40)
    if other == "text":
        parity.write_text("mine")
    elif other == "code":
        write_report(report.replace(provenance=report.provenance.replace(source=source)), parity)
    elif other == "preset":
        write_report(report.replace(preset=report.preset.replace(part_of=None)), parity)
    else:
        write_report(report.replace(claims=tuple(claim.replace(value=0.5) for claim in report.claims)), parity)
    before = parity.read_bytes()
    assert run(["eval", *ALONE, "--out", str(out)]) == 3
    err = capsys.readouterr().err
    assert "exists and is not the report of this run by this code; choose another --out" in err
    assert err.count("\n") == 1
    assert parity.read_bytes() == before
    assert not out.exists()


def test_by_default_the_next_name_is_taken_where_anothers_parity_lies(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(load_preset("demo", [f'beside=["{PARITY}"]']))
    beside = plans_beside(plan)
    first = choose_output(plan, None, beside)
    place = path_beside(first, beside[0])
    place.write_bytes((finished / f"demo-{PARITY}.json").read_bytes())
    assert choose_output(plan, None, beside) == first, "settled by this code for this preset"
    place.write_text("mine")
    assert choose_output(plan, None, beside) != first
    with pytest.raises(OutputError):
        choose_output(plan, first, beside)


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("this system has no such folder")
    assert run(["eval", *ALONE, "--out", "/proc/demo.json"]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_the_plan_shows_what_is_run_beside(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "--preset", "demo", "--plan", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["preset"] == "demo"
    assert [part["preset"] for part in document["beside"]] == [PARITY, "code-tiny"]
    assert {need["what"] for part in document["beside"] for need in part["needs"]} >= {"drafter k3-tiny-dflash"}
    assert run(["eval", "--preset", "demo", "--plan"]) == 0
    shown = capsys.readouterr().out
    assert shown.index(f"preset {PARITY} (parity)") < shown.index("preset demo (niah)")


@pytest.mark.parametrize("name", preset_names())
def test_what_a_shipped_preset_names_beside_it_is_shipped(name: str) -> None:
    plan = plan_of(load_preset(name))
    for part in plans_beside(plan):
        assert set(part.preset.beside) <= set(plan.preset.beside), "others would not be run"


def test_a_preset_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "--preset", "demo", "--set", 'beside=["parity-tiny-recordd"]']) == 64
    err = capsys.readouterr().err
    assert f"did you mean '{PARITY}'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("named", ['["demo"]', f'["{PARITY}","{PARITY}"]'])
def test_a_preset_is_not_run_beside_itself_nor_another_twice(named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "--preset", "demo", "--set", f"beside={named}", "--plan"]) == 64
    assert "names other presets, each once" in capsys.readouterr().err
