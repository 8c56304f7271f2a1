"""Drafters that a run measures and compares with no reference: the gate admits their speed only beside their parity."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from harness.plans.plan import Plan
from harness.plans.preset import ParityPreset, TimedPreset
from harness.plans.preset_file import load_preset, preset_names
from reports.drafters import RECORDED
from reports.engines import TORCH


@dataclass(frozen=True)
class ParityLeftOut:
    """The arms of a plan that draft with a port of a drafter, and what would show its parity."""

    drafter: str
    arms: tuple[str, ...]
    remedy: str


def parity_left_out(plan: Plan, together: Sequence[Plan]) -> tuple[ParityLeftOut, ...]:
    """Every drafter of `plan` whose speed it wants quoted, and which none of the plans run `together` compares."""
    preset = plan.preset
    if not isinstance(preset, TimedPreset):
        return ()
    compared = {part.preset.drafter for part in together if isinstance(part.preset, ParityPreset)}
    arms: dict[str, list[str]] = {}
    for arm in preset.arms:
        if arm.role != "control" and arm.drafter is not None and arm.drafter.is_a.port and arm.drafter.model:
            arms.setdefault(arm.drafter.model, []).append(arm.name)
    return tuple(
        ParityLeftOut(drafter, tuple(names), _remedy(preset, drafter))
        for drafter, names in arms.items()
        if drafter not in compared
    )


def _remedy(preset: TimedPreset, drafter: str) -> str:
    shipped = _shipped(drafter, recorded=preset.backend != TORCH)
    if shipped is None:
        return f"run `k3 parity --model {preset.model} --drafter {drafter}` into the same folder first"
    value = json.dumps([*preset.beside, shipped])
    return f"`--set 'beside={value}'` runs it beside"


def _shipped(drafter: str, *, recorded: bool) -> str | None:
    """The preset that ships and compares the drafter: with what was recorded if that will do, else in float32."""
    found = [
        (preset.reference.kind != RECORDED, preset.candidate.dtype != "float32", name)
        for name in preset_names()
        if isinstance(preset := load_preset(name).preset, ParityPreset)
        and preset.drafter == drafter
        and (recorded or preset.reference.kind != RECORDED)
    ]
    return min(found)[2] if found else None
