"""What PyTorch trains on. Batches and first weights are drawn on the CPU, so that they do not depend on the device."""

import torch

from harness.base.errors import CannotRunError


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


def present() -> tuple[str, ...]:
    """The devices here, the fastest first."""
    found = (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available()), ("cpu", True))
    return tuple(name for name, available in found if available)
