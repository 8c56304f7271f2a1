"""`k3 eval` from end to end on a tiny random model: what is written, what is printed, and what a kill leaves."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import harness.engines.mlx  # noqa: F401
from harness.cli import run
from harness.runs.journal import Journal
from reports.records.measurement import Arm
from reports.report import Report, load_report
from tests.harness.commands.killed import killed
from tests.harness.model_folders import write_folder
from tests.harness.tiny_models import SHAPE, verifier_of

SETTINGS = ("--set", "workload.lines=20", "--set", "max_new_tokens=6", "--samples", "3")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A llama of two layers with random weights and a tokenizer trained for the tests, as a folder."""
    from mlx_lm.models import llama

    args = llama.ModelArgs(model_type="llama", num_hidden_layers=2, **(SHAPE | {"vocab_size": 400}))
    verifier = verifier_of(llama.Model(args), "llama")
    return write_folder(tmp_path_factory.mktemp("models") / "tiny", verifier, max_position_embeddings=8192)


def arguments(model: Path, out: Path, *more: str) -> list[str]:
    return ["eval", "--preset", "recall-smollm2", "--set", f"model={model}", *SETTINGS, "--out", str(out), *more]


def tokens(report: Report) -> dict[tuple[str, int, int], Any]:
    return {(arm.name, row.sample, row.repeat): row.token_ids for arm in report.arms for row in arm.measurements}


def arm_of(report: Report, name: str) -> Arm:
    return next(arm for arm in report.arms if arm.name == name)


def test_a_run_writes_evidence_that_says_what_was_done(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "r.json"
    monkeypatch.setenv("HOME", str(model.parent))
    assert run(arguments(model, out)) in (0, 2)
    report = load_report(out)
    assert report.plan is not None
    assert report.plan.complete
    assert report.plan.resumes == ()
    assert {arm.name: len(arm.measurements) for arm in report.arms} == {
        "oracle": 3, "oracle_again": 3, "identity": 3, "ablate": 3, "needle_free": 3
    }  # fmt: skip
    oracle, identity, ablate = (arm_of(report, name) for name in ("oracle", "identity", "ablate"))
    for theirs, ours in zip(oracle.measurements, identity.measurements, strict=True):
        assert ours.token_ids == theirs.token_ids
        assert ours.restoration_active
        assert ours.restored_positions == ours.evicted_positions
        assert ours.e2e_s == pytest.approx(
            (ours.prefill_s or 0) + (ours.decode_s or 0) + (ours.restoration_s or 0) + (ours.aux_s or 0)
        )
    for row in ablate.measurements:
        assert row.restoration_active is False
        assert row.evicted_positions
        assert row.kv_bytes_decode is not None
        assert row.kv_bytes_decode < (oracle.measurements[0].kv_bytes_decode or 0)
    assert oracle.stream_audit is not None
    assert all(stream.mismatches == () for stream in oracle.stream_audit.streams)
    assert report.memory is not None
    table = next(table for table in report.memory.arms if table.arm == "ablate")
    assert table.formula_matches_run
    text = out.read_text()
    assert str(model.parent) not in text
    assert "model=~/tiny" in text


def test_json_is_one_document_and_nothing_else(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(arguments(model, tmp_path / "r.json", "--json"))
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert document["verdict"] == load_report(tmp_path / "r.json").gate.verdict  # type: ignore[union-attr]
    assert "\x1b" not in shown.err
    by_name = {claim["name"]: claim for claim in document["claims"]}
    assert "SPEEDUP_REPEATS" in by_name["decode_speedup/identity"]["withheld_by"]
    assert not any("decode_speedup" in line for line in document["headlines"])


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_run_goes_on_where_it_stopped(model: Path, tmp_path: Path, kill: signal.Signals) -> None:
    out, whole = tmp_path / "r.json", tmp_path / "whole.json"
    stopped = killed(Journal, 4, kill, arguments(model, out, "--repeats", "2"))
    if kill is not signal.SIGKILL:
        assert stopped.returncode == 130
        assert "the same command goes on from there" in stopped.stderr
    kept = load_report(out)
    assert kept.plan is not None
    assert kept.plan.complete is False
    assert tokens(kept)
    run(arguments(model, out, "--repeats", "2"))
    run(arguments(model, whole, "--repeats", "2"))
    resumed, straight = load_report(out), load_report(whole)
    assert resumed.plan is not None
    assert straight.plan is not None
    assert resumed.plan.replace(resumes=()) == straight.plan
    assert [resume.order for resume in resumed.plan.resumes] == [len(kept.plan.order or ())]
    assert tokens(resumed) == tokens(straight)
    for arm, before in zip(resumed.arms, kept.arms, strict=True):
        assert arm.measurements[: len(before.measurements)] == before.measurements
    assert os.listdir(tmp_path) in (["r.json", "whole.json"], ["whole.json", "r.json"])


def test_a_finished_report_is_not_overwritten(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.json"
    run(arguments(model, out))
    before = out.read_bytes()
    assert run(arguments(model, out)) == 3
    assert "choose another --out" in capsys.readouterr().err
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--preset", "dmo"], 64, "did you mean 'demo'"),
        (["--set", "repeats=many"], 64, "repeats"),
        (["--set", "workload.lines=99999"], 64, "workload.lines"),
        (["--set", "arms.identity.exact_layers=[7]"], 64, "7"),
        (["--set", "model=/nowhere/at/all"], 3, "/nowhere/at/all"),
        (["--set", "model=k3-tiny-dflash"], 3, "weights of role drafter"),
        (["--set", "arms.identity.window=4000"], 64, "workload.lines"),
        (["--frobnicate"], 64, "--frobnicate"),
        (["--samples", "x"], 64, "samples"),
    ],
)
def test_bad_input_is_one_line_and_the_right_code(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, said: str
) -> None:
    assert run([*arguments(model, tmp_path / "r.json"), *more]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line[:4] for line in shown.err.splitlines() if line[0] != "["] == ["k3: "]
    assert said in shown.err
    assert not (tmp_path / "r.json").exists()


def test_an_unwritable_output_is_told_before_anything_is_measured(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments(model, tmp_path / "no" / "r.json")) == 3
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("damage", ["lfs", "truncated", "missing"])
def test_damaged_weights_are_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    weights = folder / "model.safetensors"
    if damage == "lfs":
        weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 1\n")
    elif damage == "truncated":
        weights.write_bytes(weights.read_bytes()[:-100])
    else:
        weights.unlink()
    assert run(arguments(folder, tmp_path / "r.json")) == 3
    shown = capsys.readouterr()
    assert [line[:4] for line in shown.err.splitlines() if line[0] != "["] == ["k3: "]
    assert "model.safetensors" in shown.err or "safetensors" in shown.err
