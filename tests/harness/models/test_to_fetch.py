"""What a run fetches by hand: named with its command and room, and no more once it is here."""

from pathlib import Path

import pytest

from harness.models.to_fetch import fetches_of
from harness.plans.preset_file import load_preset, preset_names
from harness.review.suite import load_suite
from tests.harness.commands.tiny_runs import tiny_model

MAC = [name for name in preset_names() if load_preset(name).preset.platform == "apple"]


@pytest.fixture(autouse=True)
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("K3_MAC_26B", "K3_MAC_26B_DFLASH"):
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


def test_the_suite_for_a_mac_knows_how_long_every_step_takes() -> None:
    assert all(step.about_minutes() for step in load_suite("mac").steps)


def test_what_is_here_is_not_to_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_MAC_26B", str(tiny_model(tmp_path / "model")))
    assert [one.here for one in fetches_of(["mac-26b", "k3-tiny", "mac-26b-dflash"])] == [True, False]
