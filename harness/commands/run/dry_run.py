"""`--plan`: what would run and what is missing for it. Loads no weights."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.commands.plugin_states import used_plugins
from harness.models.to_fetch import fetches_of
from harness.plans.plan import Plan
from harness.plans.preset import TimedPreset
from harness.plans.requirements import Requirement, requirements_of

COLUMNS = ("arm", "role", "engine", "prompts", "repeats", "runs", "settings")
BY_ITSELF = " (the run does it by itself)"


def print_plans(plans: Sequence[Plan], json_output: bool) -> int:
    """Print a plan, the last of `plans`, after those to be run beside it; with `json_output` as one document.

    Returns: 0 when everything is there, 3 when something is missing.
    """
    needs = [requirements_of(plan.preset) for plan in plans]
    if json_output:
        *beside, own = map(_document, plans, needs)
        print(json.dumps(own | {"beside": beside}, indent=1))
    else:
        for plan, its_needs in zip(plans, needs, strict=True):
            _print_text(plan, its_needs)
    return 3 if any(need.problem for its_needs in needs for need in its_needs) else 0


def _document(plan: Plan, needs: tuple[Requirement, ...]) -> dict[str, Any]:
    arms = plan.planned()
    return {
        "preset": plan.preset.name,
        "kind": plan.preset.kind,
        "title": plan.title,
        "settings": plan.settings(),
        "arms": [asdict(arm) for arm in arms],
        "runs": sum(arm.runs for arm in arms),
        "too_small_for_a_ratio": list(too_small(plan)),
        **_takes(plan),
        "plugins": [asdict(plugin) for plugin in used_plugins(plan.preset.plugins())],
        "needs": [{"what": need.what, "missing": bool(need.problem), "problem": need.problem} for need in needs],
    }


def too_small(plan: Plan) -> Iterator[str]:
    """What keeps a timed plan from any ratio, whatever it will measure: too few prompts, repeats or tokens."""
    from gate.rulebook.thresholds import MIN_DECODE_TOKENS
    from gate.rules.speedup.sample_size import MIN_REPEATS, MIN_SPEEDUP_GROUPS

    preset = plan.preset
    if not isinstance(preset, TimedPreset):
        return
    prompts, runs, tokens = preset.samples, preset.processes * preset.repeats, preset.max_new_tokens
    if prompts < MIN_SPEEDUP_GROUPS.value:
        kinds = f"{MIN_SPEEDUP_GROUPS.value} kinds of prompts (`--samples {MIN_SPEEDUP_GROUPS.value}` or more)"
        yield f"{prompts} {'prompt is' if prompts == 1 else 'prompts are'} asked, and a ratio needs {kinds}"
    if runs < MIN_REPEATS.value:
        yield f"each runs {runs} of the {MIN_REPEATS.value} times that are needed (`--processes {MIN_REPEATS.value}`)"
    if tokens <= MIN_DECODE_TOKENS.value:
        least = MIN_DECODE_TOKENS.value + 1
        yield f"{tokens} new tokens at most are decoded, and {least} are needed (`--set max_new_tokens=64`)"


def _print_text(plan: Plan, needs: tuple[Requirement, ...]) -> None:
    from gate.render.tables.drawing import write_table

    arms, preset = plan.planned(), plan.preset
    print(f"preset {preset.name} ({preset.kind}): {plan.title}")
    print(", ".join(f"{key} {_shown(value)}" for key, value in plan.settings().items()))
    rows = [
        (arm.name, arm.role, arm.engine, arm.prompts, str(arm.repeats), str(arm.runs), arm.settings) for arm in arms
    ]
    write_table(COLUMNS, rows, sys.stdout, words=len(COLUMNS))
    print(f"{sum(arm.runs for arm in arms)} runs")
    if found := list(too_small(plan)):
        print(f"No speed may be quoted from this run: {'; '.join(found)}.")
    takes = _takes(plan)
    for key, words in (("memory_gb", "GB of memory"), ("disk_gb", "GB of disk"), ("minutes", "minutes, about")):
        if takes[key]:
            print(f"takes {takes[key]:g} {words}")
    for command in takes["fetch"]:
        print(f"fetch: {command}")
    for plugin in used_plugins(preset.plugins()):
        print(f"plug-in {plugin.line}")
    for need in needs:
        state = f"MISSING {need.what}: {need.problem}{BY_ITSELF * need.fetched}" if need.problem else f"ok {need.what}"
        print(state)


def _takes(plan: Plan) -> dict[str, Any]:
    """Memory and time as the preset says, room for its models, and the commands that get those that are not here."""
    models = fetches_of(model.name for model in plan.preset.models())
    return {
        "memory_gb": plan.preset.memory_gb,
        "disk_gb": round(sum(model.disk_bytes for model in models) / 1e9, 1),
        "minutes": plan.preset.minutes,
        "fetch": [model.command for model in models if not model.here],
    }


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_shown(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "none" if not value else "; ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
