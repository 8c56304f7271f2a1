"""Reads how busy, fast and hot the machine is: its cores and sensors from the system, its GPUs from their driver."""

import os
from pathlib import Path
from statistics import fmean
from typing import Literal

from harness.base.clock import utc_now
from harness.base.machine.gpus import read_gpus
from reports.records.provenance import MachineReading


class MachineWatch:
    """Reads how busy, fast and hot the machine is, around one process of a run.

    Linux tells what all cores did, their clocks and sensors in /proc and /sys; macOS, without root, only the load. Of
    GPUs, those of NVIDIA are told.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._before = _core_seconds()
        self._own = _own_seconds()

    def reading(self, moment: Literal["before", "after"]) -> MachineReading:
        """The machine now; what others kept busy is told since this watch was made."""
        hertz = [value * 1000 for value in _numbers("/sys/devices/system/cpu", "cpu[0-9]*/cpufreq/scaling_cur_freq")]
        heat = [value / 1000 for value in _numbers("/sys/class/thermal", "thermal_zone*/temp")]
        return MachineReading(
            process=self._process,
            moment=moment,
            at=utc_now(),
            load=round(os.getloadavg()[0], 2),
            others=self._others() if moment == "after" else None,
            megahertz=round(fmean(hertz) / 1e6) if hertz else None,
            celsius=round(max(heat), 1) if heat else None,
            gpus=read_gpus(),
        )

    def _others(self) -> float | None:
        now = _core_seconds()
        if now is None or self._before is None or now[1] <= self._before[1]:
            return None
        busy = now[0] - self._before[0] - (_own_seconds() - self._own)
        return round(min(1.0, max(0.0, busy / (now[1] - self._before[1]))), 3)


def _core_seconds() -> tuple[float, float] | None:
    """Seconds that all cores together were busy, and all there were (proc_stat(5)); none where the system has no such
    file. Time that a virtual machine did not get is busy: its host gave it to others."""
    try:
        first = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        user, nice, system, idle, waiting, *more = (int(tick) / os.sysconf("SC_CLK_TCK") for tick in first[1:9])
    except (OSError, ValueError):
        return None
    busy = user + nice + system + sum(more)
    return busy, busy + idle + waiting


def _own_seconds() -> float:
    """CPU seconds of this process and of those it waited for."""
    return sum(os.times()[:4])


def _numbers(folder: str, pattern: str) -> list[float]:
    found = []
    for file in Path(folder).glob(pattern):
        try:
            found.append(float(file.read_text()))
        except (OSError, ValueError):
            continue
    return found
