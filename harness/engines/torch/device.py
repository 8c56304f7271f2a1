"""The one place that names devices: waiting for one, its clock, its memory, its threads.

Work on a GPU is dispatched and goes on by itself, so a clock that is read without waiting tells when it was dispatched.
Every clock of the engines on PyTorch is `Device.now`, which waits first; on a CPU there is nothing to wait for, and the
same call is made.
"""

from dataclasses import dataclass
from typing import Any

import torch

from harness.base import clock
from harness.base.errors import CannotRunError

NAMES = ("cpu", "cuda", "mps")


@dataclass(frozen=True)
class Device:
    """A device by PyTorch's name. `module` is PyTorch's own for it: `torch.cpu`, `torch.cuda`, `torch.mps`."""

    name: str
    module: Any

    def synchronise(self) -> None:
        """Wait until everything dispatched to it is done."""
        self.module.synchronize()

    def now(self) -> float:
        """Seconds on the monotonic clock, read once everything dispatched before is done."""
        self.synchronise()
        return clock.now()

    def reset_peak(self) -> None:
        """Forget the peak so far, and give back what nobody holds."""
        self.synchronise()
        self._ask("empty_cache")
        self._ask("reset_peak_memory_stats")

    def peak_bytes(self) -> int | None:
        """The most bytes allocated at once since `reset_peak`; None where the allocator keeps no count (CPU, MPS)."""
        peak: int | None = self._ask("max_memory_allocated")
        return peak

    def held_bytes(self) -> int | None:
        """The bytes allocated now; None where the allocator keeps no count (CPU)."""
        held: int | None = self._ask("memory_allocated")
        mps: int | None = self._ask("current_allocated_memory")
        return mps if held is None else held

    def describe(self) -> str:
        """The device and its chip, for example `cuda (NVIDIA H200)`."""
        named = self._ask("get_device_name")
        return self.name if named is None else f"{self.name} ({named})"

    def _ask(self, what: str) -> Any:
        """A figure, or an act, that not every device has."""
        function = getattr(self.module, what, None)
        return None if function is None else function()


def open_device(name: str) -> Device:
    """The device called `name`, if PyTorch can use it here.

    Raises:
        CannotRunError: it cannot.
    """
    if name not in present():
        raise CannotRunError(f"device {name}: PyTorch {torch.__version__} finds none here; use device=cpu")
    return Device(name, getattr(torch, name))


def present() -> tuple[str, ...]:
    """The devices here, the fastest first."""
    found = (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available()), ("cpu", True))
    return tuple(name for name, available in found if available)
