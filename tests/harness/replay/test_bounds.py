import pytest

from harness.base.errors import CannotRunError
from harness.plans.preset import TimedPreset
from harness.plans.preset_file import load_preset, preset_names
from harness.replay.bounds import check_bounds


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_that_ships_is_within_bounds(name: str) -> None:
    check_bounds(load_preset(name).preset)


@pytest.mark.parametrize(
    "override",
    ["samples=999", "max_new_tokens=4096", "prefill_chunk=8192", "workload.lines=2000", "arms.identity.window=65536"],
)
def test_a_size_beyond_them_is_refused(override: str) -> None:
    with pytest.raises(CannotRunError, match=override.partition("=")[0].rpartition(".")[2]):
        check_bounds(load_preset("demo", [override]).preset)


def test_so_are_more_arms_and_longer_blocks() -> None:
    preset = load_preset("code-tiny").preset
    assert isinstance(preset, TimedPreset)
    many = tuple(preset.arms[0].replace(name=f"arm{number}") for number in range(20))
    with pytest.raises(CannotRunError, match="arms 20"):
        check_bounds(preset.replace(arms=many))
    (arm,) = preset.arms
    assert arm.drafter is not None
    with pytest.raises(CannotRunError, match="block_size 64"):
        check_bounds(preset.replace(arms=(arm.replace(drafter=arm.drafter.replace(block_size=64)),)))
