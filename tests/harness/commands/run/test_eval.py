"""`k3 eval` from end to end on a tiny random model: what is written, and what is printed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import harness.engines.mlx  # noqa: F401
from harness.cli import run
from harness.runs.output_lock import output_lock
from reports.report import load_report
from tests.harness.commands.run.small_run import arguments, arm_of


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
    assert [(one.process, one.moment) for one in report.machine or ()] == [(0, "before"), (0, "after")]
    for arm in report.arms:
        (warm_up,), first = arm.warm_ups or (), next(row for row in arm.measurements if row.sample == 0)
        assert warm_up.order is None
        assert (warm_up.prompt_digest, warm_up.decode_loop) == (first.prompt_digest, first.decode_loop)
        assert (warm_up.token_ids or ())[:4] == (first.token_ids or ())[:4]
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


def test_two_processes_do_not_write_one_report(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.json"
    with output_lock(out):
        assert run(arguments(model, out)) == 3
    err = capsys.readouterr().err
    assert "another process is writing it; wait for it, or choose another --out" in err
    assert os.listdir(tmp_path) == []


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


def test_the_same_run_in_another_folder_is_judged_with_the_first_and_breaks_no_rule(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second clone on one machine: the first report counts where it is found. The second alone the gate refuses."""
    first, second, third = (tmp_path / name / "run.json" for name in ("first", "second", "third"))
    for folder in (first.parent, second.parent, third.parent):
        folder.mkdir()
    asked = ("--samples", "1", "--json")

    def ran(out: Path) -> tuple[int, dict[str, Any], set[str]]:
        code, document = run(arguments(model, out, *asked)), json.loads(capsys.readouterr().out)
        return code, document, {one["code"] for one in document["violations"]}

    code, before, broken = ran(first)
    again, after, broken_then = ran(second)
    assert (again, broken_then, after["judged_with"]) == (code, broken, [str(first)])
    assert before["judged_with"] == []
    assert run(["gate", "check", str(second), "--format", "json"]) == 2
    (alone,) = json.loads(capsys.readouterr().out)
    assert "RUN_SELECTED" in {one["code"] for one in alone["violations"]}
    assert {claim["status"] for claim in alone["claims"]} == {"withheld"}
    run(["gate", "check", str(tmp_path), "--format", "json"])
    assert "RUN_SELECTED" not in capsys.readouterr().out
    first.unlink()
    last, gone, broken_then = ran(third)
    assert (broken_then - broken, gone["headlines"], last) == ({"RUN_SELECTED"}, [], code)
    assert gone["judged_with"] == [str(second)]
