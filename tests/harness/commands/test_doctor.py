"""`k3 doctor` names the devices that a preset on PyTorch may ask for."""

import pytest

from harness.base.errors import CannotRunError
from harness.commands.doctor import examine


@pytest.mark.torch
def test_it_tells_the_devices_that_a_preset_may_name() -> None:
    from harness.engines.torch.device import NAMES, open_device

    told = examine().torch_devices
    assert told[-1] == "cpu"
    for name in NAMES:
        if not any(device.startswith(name) for device in told):
            with pytest.raises(CannotRunError, match=f"device {name}"):
                open_device(name)
