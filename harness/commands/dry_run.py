"""`--plan`: what would run and what is missing for it. Loads no weights."""

import json
import sys
from dataclasses import asdict
from typing import Any

from harness.needs import Need, needs_of
from harness.plan import Plan

COLUMNS = ("arm", "role", "engine", "prompts", "repeats", "runs", "settings")
BY_ITSELF = " (the run does it by itself)"


def print_plan(plan: Plan, json_output: bool) -> int:
    """Print the plan to stdout, with `json_output` as one document.

    Returns: 0 when everything is there, 3 when something is missing.
    """
    needs = needs_of(plan.preset)
    missing = [need for need in needs if need.problem]
    if json_output:
        print(json.dumps(_document(plan, needs), indent=1))
    else:
        _print_text(plan, needs)
    return 3 if missing else 0


def _document(plan: Plan, needs: tuple[Need, ...]) -> dict[str, Any]:
    arms = plan.planned()
    return {
        "preset": plan.preset.name,
        "kind": plan.preset.kind,
        "title": plan.preset.title,
        "settings": plan.settings(),
        "arms": [asdict(arm) for arm in arms],
        "runs": sum(arm.runs for arm in arms),
        "needs": [{"what": need.what, "missing": bool(need.problem), "problem": need.problem} for need in needs],
    }


def _print_text(plan: Plan, needs: tuple[Need, ...]) -> None:
    from gate.render.show import write_table

    arms, preset = plan.planned(), plan.preset
    print(f"preset {preset.name} ({preset.kind}): {preset.title}")
    print(", ".join(f"{key} {_shown(value)}" for key, value in plan.settings().items()))
    rows = [
        (arm.name, arm.role, arm.engine, arm.prompts, str(arm.repeats), str(arm.runs), arm.settings) for arm in arms
    ]
    write_table(COLUMNS, rows, sys.stdout, words=len(COLUMNS))
    print(f"{sum(arm.runs for arm in arms)} runs")
    for need in needs:
        state = f"MISSING {need.what}: {need.problem}{BY_ITSELF * need.fetched}" if need.problem else f"ok {need.what}"
        print(state)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_shown(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "none" if not value else "; ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
