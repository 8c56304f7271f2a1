"""What a run fetches by hand: named with its command and room, and no more once it is here."""

from pathlib import Path

import pytest

from harness.models.to_fetch import fetches_of
from harness.plans.preset import TimedPreset
from harness.plans.preset_file import load_preset, preset_names
from harness.review.step import PresetStep
from harness.review.suite import load_suite
from tests.harness.commands.tiny_runs import tiny_model

MAC = [name for name in preset_names() if load_preset(name).preset.platform == "apple"]
TORCH_PRESETS = [name for name in preset_names() if name.startswith(("cuda-", "torch-"))]


@pytest.fixture(autouse=True)
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("K3_MAC_26B", "K3_MAC_26B_DFLASH", "K3_CUDA_VERIFIER", "K3_CUDA_DFLASH"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("name", MAC)
def test_a_preset_for_a_mac_says_what_to_fetch_and_what_it_takes(name: str) -> None:
    preset = load_preset(name).preset
    assert (preset.memory_gb or 0) >= 20
    assert (preset.minutes or 0) > 0
    models = {model.name for model in preset.models()}
    fetches = fetches_of(sorted(models))
    assert {one.name for one in fetches} == models
    assert all(one.command.startswith("hf download ") and "set K3_MAC_26B" in one.command for one in fetches)
    assert sum(one.disk_bytes for one in fetches) == (16e9 if "mac-26b-dflash" in models else 15e9)
    assert not any(one.here for one in fetches)


@pytest.mark.parametrize("name", TORCH_PRESETS)
def test_a_preset_for_pytorch_says_what_to_fetch_and_what_it_takes(name: str) -> None:
    preset = load_preset(name).preset
    assert preset.memory_gb
    assert preset.minutes
    models = {model.name for model in preset.models()}
    fetches = [one for one in fetches_of(sorted(models)) if not one.here]
    if preset.device == "cuda":
        assert {one.name for one in fetches} == models
        assert all("hf download " in one.command and "set K3_CUDA_" in one.command for one in fetches)
        assert 16e9 < sum(one.disk_bytes for one in fetches) < preset.memory_gb * 1e9


def test_the_large_suites_know_how_long_every_step_takes() -> None:
    assert all(step.about_minutes() for name in ("mac", "torch") for step in load_suite(name).steps)


def test_the_suite_for_pytorch_runs_the_engines_on_pytorch() -> None:
    steps = [step for step in load_suite("torch").steps if isinstance(step, PresetStep)]
    timed = [preset for step in steps if isinstance(preset := step.plans()[-1].preset, TimedPreset)]
    assert len(timed) == 6
    assert {(preset.backend, preset.device or "cpu", preset.model) for preset in timed} == {
        ("torch", "cpu", "smollm2-135m")
    }


def test_what_is_here_is_not_to_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_MAC_26B", str(tiny_model(tmp_path / "model")))
    assert [one.here for one in fetches_of(["mac-26b", "k3-tiny", "mac-26b-dflash"])] == [True, False]
