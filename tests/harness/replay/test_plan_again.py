"""What of a report's preset a replay runs otherwise."""

import pytest

from harness.base.errors import CannotRunError
from harness.plans.preset import Device, TimedPreset
from harness.plans.preset_file import load_preset
from harness.replay.plan_again import on_backend

ON_TORCH = ("backend=torch", "device=mps", "dtype=bfloat16")


@pytest.mark.parametrize(("asked", "device"), [("cuda", "cuda"), (None, "mps")])
def test_on_its_own_backend_only_the_device_is_another_one(asked: Device | None, device: str) -> None:
    """In another type it would compute other tokens, and the report would be blamed for them."""
    preset = load_preset("code-tiny", ON_TORCH).preset
    again = on_backend(preset, "torch", asked)
    assert isinstance(again, TimedPreset)
    assert (again.backend, again.device, again.dtype) == ("torch", device, "bfloat16")
    assert on_backend(again, "torch", "mps") == preset


def test_on_the_other_backend_everything_of_the_first_is_left_behind() -> None:
    preset = load_preset("code-tiny", ON_TORCH).preset
    again = on_backend(preset, "mlx", None)
    assert isinstance(again, TimedPreset)
    assert (again.backend, again.device, again.dtype) == ("mlx", None, None)
    assert on_backend(preset, None, None) is preset


def test_arms_that_the_other_backend_does_not_have_are_left_out() -> None:
    preset = load_preset("peer-speculative-smollm2").preset
    again = on_backend(preset, "torch", None)
    assert isinstance(preset, TimedPreset)
    assert isinstance(again, TimedPreset)
    assert [arm.name for arm in again.arms] == [arm.name for arm in preset.arms if arm.engine != "mlx-lm-speculative"]
    assert len(again.arms) < len(preset.arms)
    with pytest.raises(CannotRunError, match="kind kv_quant compute with MLX alone"):
        on_backend(load_preset("kvquant-tiny").preset, "torch", None)
