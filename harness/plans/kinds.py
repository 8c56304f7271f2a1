"""The kinds of runs: which presets each has, how one is checked, and the function that runs it. The one dispatch.

A new kind is a preset class, a function from `LoadedPreset` to a `Plan`, a function that runs it, and a line here.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.progress import Progress
from harness.plans.codec_preset import CodecPreset, plan_codecs
from harness.plans.parity_plan import plan_parity
from harness.plans.plan import Plan, make_plan
from harness.plans.preset import BasePreset, CodePreset, LoadedPreset, NiahPreset, ParityPreset

if TYPE_CHECKING:
    from reports.report import Report


@dataclass(frozen=True)
class Kind:
    """One kind of run. `runner` is "module:function", resolved when it is needed, so that naming it loads nothing; the
    function takes (plan, out, progress), measures what is missing for the report that is to be at `out`, and returns it
    without claims."""

    preset: type[BasePreset]
    plan: Callable[[LoadedPreset], Plan]
    runner: str


KINDS: dict[str, Kind] = {
    "niah": Kind(NiahPreset, make_plan, "harness.runs.timed_run:run_preset"),
    "code": Kind(CodePreset, make_plan, "harness.runs.timed_run:run_preset"),
    "parity": Kind(ParityPreset, plan_parity, "harness.runs.parity_run:run_preset"),
    "kv_quant": Kind(CodecPreset, plan_codecs, "harness.runs.codec_run:run_preset"),
}


def plan_of(loaded: LoadedPreset) -> Plan:
    """Check a preset as a whole, before any work.

    Raises:
        UsageError: it contradicts itself.
    """
    return KINDS[loaded.preset.kind].plan(loaded)


def run_plan(plan: Plan, out: Path, progress: Progress) -> "Report":
    """Run a plan: its report, without claims, that is to be written at `out`.

    Raises:
        K3Error: of a class of `harness.base.errors`, as the runner of its kind.
    """
    module, _, function = KINDS[plan.preset.kind].runner.partition(":")
    runner: Any = getattr(importlib.import_module(module), function)
    report: Report = runner(plan, out, progress)
    return report
