"""The presets that one names to be run beside it: what they are, where their reports go, which of those are there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.errors import ModelError, UsageError
from harness.base.provenance import read_host, read_source
from harness.models.info import model_info
from harness.models.resolve import resolve
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan
from harness.plans.preset_file import load_preset
from reports.records.provenance import ModelInfo
from reports.report import ReportError, load_report


def plans_beside(plan: Plan) -> tuple[Plan, ...]:
    """The presets that `plan` names, as they ship, in their order; those that they name in turn are not run.

    Raises:
        UsageError: there is no such preset, it is the plan's own, or it is named twice.
    """
    name, named = plan.preset.name, plan.preset.beside
    if name in named or len(set(named)) < len(named):
        raise UsageError(f"preset {name}: beside {list(named)}: names other presets, each once")
    return tuple(plan_of(replace(load_preset(part), part_of=name)) for part in plan.preset.beside)


def path_beside(out: Path, plan: Plan) -> Path:
    """Where the report of `plan` goes beside the report `out`."""
    return out.parent / f"{out.stem}-{plan.preset.name}.json"


def settled(plan: Plan, path: Path) -> bool:
    """A judged report of this very preset is at `path`, measured by this code on this machine, of these models."""
    try:
        found = load_report(path)
    except ReportError:
        return False
    if found.gate is None or found.provenance is None or found.preset != plan.preset_info():
        return False
    source, host = found.provenance.source, found.provenance.host
    return (source, host) == (read_source(), read_host()) and _unchanged(plan, found.provenance.models)


def _unchanged(plan: Plan, measured: Sequence[ModelInfo]) -> bool:
    """The models that were measured are those that would be now, as far as they are on this machine."""
    for named, then in zip(plan.preset.models(), measured, strict=False):
        try:
            now = model_info(resolve(named.name), named.role)
        except ModelError:
            continue
        if (now.weights, now.config, now.tokenizer) != (then.weights, then.config, then.tokenizer):
            return False
    return True
