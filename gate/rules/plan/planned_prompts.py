"""The prompts of a run against those that its preset makes from its seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Fault
from reports.known_models import KNOWN_WEIGHTS

if TYPE_CHECKING:
    from reports.records.plan import PresetInfo

_SAME_PROMPTS = frozenset(
    ("samples", "repeats", "processes", "max_new_tokens", "prefill_chunk", "ignore_turn_stop", "until_width",
     "most_processes", "budget_s", "memory_gb", "minutes", "platform", "beside")
)  # fmt: skip
"""Settings that leave every prompt as it is: sample 3 is the same among 5 and among 50."""

_KEPT = ("sink", "window", "exact_layers", "restoration")
"""Of arms: where needles may stand hangs on them."""


def unlike_planned(view: ReportView, preset: PresetInfo) -> Iterator[Fault]:
    """The first prompt that the preset does not make. Nothing is known of other seeds, and of prompts of real text."""
    from reports.planned.prompts import planned_prompts, shown

    planned = planned_prompts(preset.name, preset.digest)
    verifier, workload = view.verifier, view.report.workload
    if planned is None or workload is None or verifier is None:
        return
    if KNOWN_WEIGHTS.get(verifier.weights or "") != planned.model or not all(map(_harmless, preset.overrides)):
        return
    for prompt in workload.prompts:
        wanted = planned.prompts.get(prompt.prompt_set, ())
        if prompt.sample >= len(wanted):
            continue
        found, made = shown(prompt), wanted[prompt.sample]
        # All that is told of a prompt is written otherwise from before prompts knew their groups; its tokens are not.
        if found != made and (prompt.group is not None or found.split()[0] != made.split()[0]):
            message = f"sample {prompt.sample} of set {prompt.prompt_set} is not what the preset makes from its seed"
            yield Fault("workload.prompts", message, found, made)
            return


def _harmless(override: str) -> bool:
    """The setting changes no prompt."""
    key = override.partition("=")[0].strip()
    return key in _SAME_PROMPTS or (key.startswith("arms.") and key.rpartition(".")[2] not in _KEPT)
