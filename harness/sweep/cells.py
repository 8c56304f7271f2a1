"""The cells of a sweep: one run each, checked as `k3 eval` checks it, before any of them is run."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from harness.base.errors import UsageError
from harness.plans.companions import path_beside, plans_beside
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan
from harness.plans.preset import CodePreset, NamedModel
from harness.plans.preset_file import is_path, load_preset, read_preset
from harness.sweep.sweep_file import SweepFile
from reports.report import Report

MOST_CELLS = 10_000


@dataclass(frozen=True)
class Cell:
    """One run of the grid. `preset` is the name of one that ships, or the text of one of the user's (`own`); `beside`
    are the runs that the preset names beside its own; `machine` is the one that it must run on, if any."""

    preset: str
    own: bool
    plan: Plan
    beside: tuple[Plan, ...]
    machine: str | None

    @property
    def name(self) -> str:
        """Of its report, without .json: the preset, the digest of what decides the run, and the machine."""
        parts = [self.plan.preset.name, self.plan.digest()[7:19], self.machine]
        return "-".join(part for part in parts if part is not None)

    def models(self) -> tuple[NamedModel, ...]:
        """Every model that the cell's runs load, once."""
        named = [model for plan in (self.plan, *self.beside) for model in plan.preset.models()]
        return tuple(dict.fromkeys(named))

    def reports(self, folder: Path) -> dict[Path, Plan]:
        """Where its reports go in `folder`, those of the runs beside it first, each with its plan."""
        out = folder / f"{self.name}.json"
        return {path_beside(out, plan): plan for plan in self.beside} | {out: self.plan}


def cells_of(sweep: SweepFile) -> tuple[Cell, ...]:
    """Every cell of the grid, presets outermost, machines innermost.

    Raises:
        UsageError: too many cells, two that are the same, or a preset, key or value that `k3 eval` refuses, too.
    """
    count = math.prod(
        [len(sweep.presets), max(1, len(sweep.seeds)), max(1, len(sweep.machines)), *map(len, sweep.settings.values())]
    )
    if count > MOST_CELLS:
        raise UsageError(f"sweep {sweep.name}: {count} cells; {MOST_CELLS} at most: make several sweeps")
    cells = tuple(_cells(sweep))
    names: set[str] = set()
    for cell in cells:
        if cell.name in names:
            raise UsageError(f"sweep {sweep.name}: {cell.name} is there twice: give every preset and value once")
        names.add(cell.name)
    return cells


def _cells(sweep: SweepFile) -> Iterator[Cell]:
    seeds: list[tuple[str, ...]] = [(f"seed={seed}",) for seed in sweep.seeds] or [()]
    values = [[f"{key}={value}" for value in values] for key, values in sweep.settings.items()]
    for name in sweep.presets:
        own = is_path(name)
        preset = read_preset(name).decode() if own else name
        for settings, seed in product(product(*values), seeds):
            plan = plan_of(load_preset(name, (*settings, *seed)))
            _check_portable(plan, name)
            beside = plans_beside(plan)
            for machine in sweep.machines or (None,):
                yield Cell(preset, own, plan, beside, machine)


def _check_portable(plan: Plan, name: str) -> None:
    """Refuse what no other machine can read."""
    preset = plan.preset
    if isinstance(preset, CodePreset) and preset.workload.prompts is not None:
        raise UsageError(f"preset {name}: workload.prompts: a file of prompts is on no worker; run it with `k3 eval`")


def unlike(plan: Plan, machine: str | None, report: Report) -> str | None:
    """Why a report is not the one of a cell's plan; None if it is."""
    if report.preset != plan.preset_info():
        return "it is of another preset or other settings"
    made, asked = report.provenance, report.workload
    if made is None or asked is None or report.plan is None or report.gate is None:
        return "it is not whole"
    if machine is not None and (made.host is None or made.host.label != machine):
        return f"it was not made on {machine}"
    if report.plan.digest != plan.digest(*(model.weights or "" for model in made.models), asked.digest or ""):
        return "its plan digest is not that of its cell"
    return None
