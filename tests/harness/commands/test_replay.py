"""`k3 replay` on k3-tiny, from a run to its replay, and to a report that was doctored in between."""

import json
from pathlib import Path

import pytest

from gate.judging.batch import judge_paths
from gate.judging.judge import conclude
from harness.cli import run
from harness.plans.kinds import plan_of, run_plan
from harness.plans.preset_file import load_preset
from reports.report import Report, load_report, write_report
from tests.gate.edits import edit_rows

OVERRIDES = ("samples=2", "max_new_tokens=8", "processes=1")
EVIDENCE = Path(__file__).resolve().parents[3] / "reports" / "evidence"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two prompts in three arms of code-tiny, measured here."""
    out = tmp_path_factory.mktemp("measured") / "run.json"
    return conclude(run_plan(plan_of(load_preset("code-tiny", OVERRIDES)), out, lambda done, total, text: None))


def replayed(report: Report, folder: Path, *options: str) -> tuple[int, Report]:
    write_report(report, folder / "run.json")
    code = run(["replay", str(folder / "run.json"), "--seed", "3", *options])
    return code, load_report(folder / "run-replay-1.json")


def codes(folder: Path) -> dict[str, set[str]]:
    return {Path(file.path).name: {one.code for one in file.violations} for file in judge_paths([folder])}


def test_a_true_report_comes_out_the_same_and_is_told_so(
    measured: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, replay = replayed(measured, tmp_path, "--rows", "3")
    found = capsys.readouterr()
    assert replay.replay is not None
    assert all(row.replayed is not None for row in replay.replay.rows)
    assert {row.arm for row in replay.replay.rows} == {"oracle", "oracle_again", "fused"}
    (claim,) = replay.claims
    assert (claim.metric, claim.value) == ("rows_replayed", 1.0)
    assert codes(tmp_path)["run-replay-1.json"] <= {"DIRTY_TREE"}
    assert "x oracle here" in found.err
    assert run(["report", "show", str(tmp_path / "run-replay-1.json")]) == 0


def test_a_doctored_row_is_found_and_its_claims_are_refused(measured: Report, tmp_path: Path) -> None:
    def edit(row):
        first, second, *rest = row.token_ids
        return row.replace(token_ids=(first, second + 1, *rest))

    code, replay = replayed(conclude(edit_rows(measured, "fused", edit)), tmp_path, "--rows", "1")
    assert code == 2
    assert "REPLAY_DISAGREES" in codes(tmp_path)["run-replay-1.json"]
    assert "REPLAY_REFUTES" in codes(tmp_path)["run.json"]
    assert replay.claims[0].status == "withheld"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run.json").rename(tmp_path / "elsewhere" / "run.json")
    assert "REPLAY_REFUTES" in codes(tmp_path)["run.json"], "the two need not lie in one folder to be judged together"
    assert "REPLAY_OF_ANOTHER" in {one.code for one in judge_paths([tmp_path / "run-replay-1.json"])[0].violations}


def test_a_name_that_preset_and_weights_do_not_bear_out_is_found(measured: Report, tmp_path: Path) -> None:
    assert measured.provenance is not None
    models = tuple(
        model.replace(id="gemma3-270m") if model.role == "verifier" else model for model in measured.provenance.models
    )
    other = measured.replace(provenance=measured.provenance.replace(models=models))
    _, replay = replayed(other, tmp_path, "--rows", "1")
    assert replay.replay is not None
    differing = [fact.field for fact in replay.replay.facts if fact.replayed not in (None, fact.original)]
    assert differing == ["models.0.verifier.id"]
    assert "REPLAY_REFUTES" in codes(tmp_path)["run.json"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"overrides": ("max_new_tokens=4000",)}, "max_new_tokens 4000"),
        ({"overrides": ("samples=900",)}, "samples 900"),
        ({"overrides": ("samples=no",)}, "samples"),
        ({"name": "mine"}, "--preset"),
        ({"digest": "sha256:" + "0" * 64}, "--preset"),
        ({"overrides": ("workload.prompts=/etc/passwd",)}, "--prompts"),
    ],
)
def test_a_report_that_asks_for_too_much_is_refused_in_one_line(
    measured: Report, change: dict[str, object], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured.preset is not None
    write_report(measured.replace(preset=measured.preset.replace(**change)), tmp_path / "run.json")
    assert run(["replay", str(tmp_path / "run.json")]) == 3
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json"]


def test_a_model_of_the_reports_choosing_is_never_opened(
    measured: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured.preset is not None
    assert measured.provenance is not None
    models = tuple(model.replace(weights="sha256:" + "1" * 64) for model in measured.provenance.models)
    for overrides in ((), (f"model={tmp_path}",)):
        preset = measured.preset.replace(overrides=(*measured.preset.overrides, *overrides))
        report = measured.replace(preset=preset, provenance=measured.provenance.replace(models=models))
        write_report(report, tmp_path / "run.json")
        assert run(["replay", str(tmp_path / "run.json")]) == 3
        assert "no model here has the weights of the verifier" in capsys.readouterr().err


def test_own_prompts_are_held_to_the_file_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, other = tmp_path / "mine.jsonl", tmp_path / "other.jsonl"
    own.write_text('{"text": "def area(radius):"}\n{"text": "class Invoice:"}\n')
    other.write_text('{"text": "def area(radius):"}\n{"text": "class Order:"}\n')
    plan = plan_of(load_preset("code-tiny", (*OVERRIDES, f"workload.prompts={own}")))
    measured = conclude(run_plan(plan, tmp_path / "own.json", lambda done, total, text: None))
    assert measured.preset is not None
    assert str(tmp_path) not in str(measured.preset.overrides)
    copy = own.rename(tmp_path / "copy.jsonl")
    _, replay = replayed(measured, tmp_path, "--rows", "1", "--prompts", str(copy))
    assert replay.claims[0].value == 1.0
    capsys.readouterr()
    for file in (other, tmp_path / "none.jsonl"):
        assert run(["replay", str(tmp_path / "run.json"), "--prompts", str(file)]) == 3
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", ["smoke-tiny-ar.json", "RETRACTIONS.toml", "no-such-file.json"])
def test_what_has_no_rows_of_a_model_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(EVIDENCE / name)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_a_row_that_the_preset_does_not_have_is_told_and_not_dropped(measured: Report, tmp_path: Path) -> None:
    renamed = tuple(arm.replace(name="quick") if arm.name == "fused" else arm for arm in measured.arms)
    _, replay = replayed(measured.replace(arms=renamed), tmp_path, "--rows", "2")
    assert replay.replay is not None
    lost = [row for row in replay.replay.rows if row.arm == "quick"]
    assert lost
    assert all(row.replayed is None and row.not_run for row in lost)
    assert replay.claims[0].value < 1.0


def test_the_gate_reads_a_replay_without_what_runs_models(measured: Report, tmp_path: Path) -> None:
    _, replay = replayed(measured, tmp_path, "--rows", "1")
    again = json.loads((tmp_path / "run-replay-1.json").read_text())
    assert again["kind"] == "replay"
    assert Report.model_validate_json(replay.model_dump_json()) == replay


@pytest.mark.torch
def test_rows_of_mlx_come_out_the_same_on_pytorch(measured: Report, tmp_path: Path) -> None:
    _, replay = replayed(measured, tmp_path, "--rows", "3", "--backend", "torch")
    assert replay.replay is not None
    assert replay.provenance is not None
    assert replay.provenance.runtime is not None
    assert {row.arm for row in replay.replay.rows} == {"oracle", "oracle_again", "fused"}
    assert [(claim.metric, claim.value) for claim in replay.claims] == [("runtime_parity", 1.0)]
    assert "REPLAY_DISAGREES" not in codes(tmp_path)["run-replay-1.json"]


@pytest.mark.parametrize("backend", [["--backend", "mlx"], []])
def test_a_device_is_of_pytorch_alone_and_never_left_aside(
    backend: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", str(tmp_path / "run.json"), *backend, "--device", "cuda"]) == 64
    assert "--device: only PyTorch has several" in capsys.readouterr().err
