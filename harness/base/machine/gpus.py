"""What the driver of NVIDIA's GPUs tells of them, through its management library (NVML); needs the extra `gpu`."""

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

from reports.records.provenance import MOST_GPUS, SLOWEST_STATE, GpuReading

LONGEST_S = 5.0
"""Seconds that the driver has to answer: one that hangs holds up no run."""


def read_gpus() -> tuple[GpuReading, ...] | None:
    """Every GPU now; None where the library, the driver or a GPU is missing, or the driver does not answer."""
    found: list[GpuReading] = []
    asking = Thread(target=lambda: found.extend(_ask()), name="k3-gpus", daemon=True)
    asking.start()
    asking.join(LONGEST_S)
    return tuple(found) or None


def _ask() -> tuple[GpuReading, ...]:
    try:
        import pynvml as nvml
    except ImportError:
        return ()
    try:
        nvml.nvmlInit()
        count = min(nvml.nvmlDeviceGetCount(), MOST_GPUS)
        return tuple(_gpu(nvml, nvml.nvmlDeviceGetHandleByIndex(index)) for index in range(count))
    except nvml.NVMLError:
        return ()
    finally:
        with suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def _gpu(nvml: Any, handle: Any) -> GpuReading:
    """What the library tells of a GPU; what it tells of no GPU of its kind is left out."""

    def told(read: Callable[..., int], *more: int) -> int | None:
        try:
            return read(handle, *more)
        except nvml.NVMLError:
            return None

    state, milliwatts = told(nvml.nvmlDeviceGetPerformanceState), told(nvml.nvmlDeviceGetEnforcedPowerLimit)
    return GpuReading(
        megahertz=told(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
        memory_megahertz=told(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM),
        celsius=told(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
        power_limit_watts=milliwatts / 1000 if milliwatts is not None else None,
        performance_state=state if state is not None and state <= SLOWEST_STATE else None,
    )
