"""What PyTorch trains on. Batches and first weights are drawn on the CPU, so that they do not depend on the device."""

import torch

from harness.base.errors import CannotRunError
from harness.engines.torch.device import present


def find_device(asked: str) -> torch.device:
    """The device called `asked`; `auto` is CUDA where there is one, else Metal (mps), else the CPU.

    Raises:
        CannotRunError: PyTorch finds no such device here.
    """
    there = present()
    if asked == "auto":
        return torch.device(there[0])
    if asked not in there:
        raise CannotRunError(f"--device {asked}: PyTorch finds none here; it finds {', '.join(there)}")
    return torch.device(asked)
