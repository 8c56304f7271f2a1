"""How busy and how hot the machine was while a report was measured, in words."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.report import Report

MOST_OTHERS = 0.2
"""Share of all cores. A forward on a CPU uses every core, and waits for the slowest: a core that is taken shows."""
MOST_LOAD = 0.5
"""Load a core before a run began, where the system does not tell what others took."""


def machine_line(report: Report) -> str | None:
    """One sentence; none if nobody looked."""
    if not report.machine:
        return None
    others, cores, load = _others(report), _cores(report), report.machine[0].load
    parts = [f"{_programs(report)} kept {others:.0%} of {cores} busy" if others is not None else ""]
    parts.append(f"load {load:g} before it began" if load is not None else "")
    clocks = [one.megahertz for one in report.machine if one.megahertz is not None]
    parts.append(f"{fmean(clocks):.0f} MHz" if clocks else "")
    heat = [one.celsius for one in report.machine if one.celsius is not None]
    parts.append(f"{max(heat):.0f} degrees Celsius at most" if heat else "")
    gpus = [gpu for one in report.machine for gpu in one.gpus or ()]
    clocks = [gpu.megahertz for gpu in gpus if gpu.megahertz is not None]
    parts.append(f"GPU {max(clocks):.0f} MHz at most" if clocks else "")
    heat = [gpu.celsius for gpu in gpus if gpu.celsius is not None]
    parts.append(f"GPU {max(heat):.0f} degrees Celsius at most" if heat else "")
    limits = [gpu.power_limit_watts for gpu in gpus if gpu.power_limit_watts is not None]
    parts.append(f"GPU limited to {min(limits):.0f} W" if limits else "")
    return f"The machine: {', '.join(filter(None, parts)) or 'it tells nothing of itself'}."


def busy_line(report: Report) -> str | None:
    """That the machine was too busy for its times to be worth much, and what to do; none if it was not."""
    others, load = _others(report), report.machine[0].load if report.machine else None
    host = report.provenance.host if report.provenance is not None else None
    if others is not None and others > MOST_OTHERS:
        told = f"{_programs(report)} kept {others:.0%} of {_cores(report)} busy"
    elif others is None and load is not None and host is not None and load > MOST_LOAD * (host.cores or 1):
        told = f"its load was {load:g} before the run began"
    else:
        return None
    rest = "nothing else runs" if not _served(report) else "nothing runs but the server"
    return f"This machine was busy: {told}. Its times are of little worth. Measure again when {rest}."


def _programs(report: Report) -> str:
    """A server that an arm calls may run on this machine, where its work is that of another program."""
    return "other programs" if not _served(report) else "other programs, with the server if it ran here,"


def _served(report: Report) -> bool:
    return any(arm.served_by is not None for arm in report.arms)


def _others(report: Report) -> float | None:
    shares = [one.others for one in report.machine or () if one.others is not None]
    return fmean(shares) if shares else None


def _cores(report: Report) -> str:
    host = report.provenance.host if report.provenance is not None else None
    return f"its {host.cores} cores" if host is not None and host.cores is not None else "its cores"
