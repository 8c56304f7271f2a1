"""The presets that one names to be run beside it: what they are, where their reports go, which of those are there."""

from dataclasses import replace
from pathlib import Path

from harness.kinds import plan_of
from harness.plan import Plan
from harness.preset_file import load_preset
from harness.provenance import read_source
from reports.report import ReportError, load_report


def plans_beside(plan: Plan) -> tuple[Plan, ...]:
    """The presets that `plan` names, as they ship, in their order; those that they name in turn are not run.

    Raises:
        UsageError: there is no such preset.
    """
    name = plan.preset.name
    return tuple(plan_of(replace(load_preset(part), part_of=name)) for part in plan.preset.beside)


def path_beside(out: Path, plan: Plan) -> Path:
    """Where the report of `plan` goes beside the report `out`."""
    return out.with_name(f"{out.stem}-{plan.preset.name}.json")


def settled(plan: Plan, path: Path) -> bool:
    """A judged report of this very preset, measured by this code, is at `path`."""
    try:
        found = load_report(path)
    except ReportError:
        return False
    source = found.provenance.source if found.provenance is not None else None
    return found.gate is not None and found.preset == plan.preset_info() and source == read_source()
