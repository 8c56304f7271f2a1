"""`--plan`: what would run and what is missing for it. Loads no weights."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.commands.plugin_states import used_plugins
from harness.commands.run.too_small import too_small_for_a_ratio, too_small_for_a_share
from harness.models.to_fetch import fetches_of
from harness.plans.estimates.how_long import about_minutes, minutes_in_words
from harness.plans.parity_left_out import parity_left_out
from harness.plans.plan import Plan
from harness.plans.requirements import Requirement, requirements_of
from reports.printing.say import say
from reports.untrusted.number_of import number_of

COLUMNS = ("arm", "role", "engine", "prompts", "repeats", "runs", "settings")


def print_plans(plans: Sequence[Plan], json_output: bool) -> int:
    """Print a plan, the last of `plans`, after those to be run beside it; with `json_output` as one document.

    Returns: 0 when everything is there or the run gets it by itself, 3 when something is missing.
    """
    needs = [requirements_of(plan.preset) for plan in plans]
    if json_output:
        *beside, own = (_document(plan, its_needs, plans) for plan, its_needs in zip(plans, needs, strict=True))
        print(json.dumps(own | {"beside": beside}, indent=1))
    else:
        for place, (plan, its_needs) in enumerate(zip(plans, needs, strict=True)):
            _print_text(plan, its_needs, plans, told=frozenset(need for before in needs[:place] for need in before))
        _print_in_all(plans)
    return 3 if any(need.problem for its_needs in needs for need in its_needs) else 0


def _document(plan: Plan, needs: tuple[Requirement, ...], plans: Sequence[Plan]) -> dict[str, Any]:
    arms = plan.planned()
    return {
        "preset": plan.preset.name,
        "kind": plan.preset.kind,
        "title": plan.title,
        "settings": plan.settings(),
        "arms": [asdict(arm) for arm in arms],
        "runs": sum(arm.runs for arm in arms),
        "too_small_for_a_ratio": list(too_small_for_a_ratio(plan)),
        "too_small_for_a_share": list(too_small_for_a_share(plan)),
        "parity_left_out": [asdict(one) for one in parity_left_out(plan, plans)],
        **_takes(plan),
        "plugins": [asdict(plugin) for plugin in used_plugins(plan.preset.plugins())],
        "needs": [
            {"what": need.what, "missing": bool(need.problem), "problem": need.problem, "fetched": need.fetched}
            for need in needs
        ],
    }


def _print_text(
    plan: Plan, needs: tuple[Requirement, ...], plans: Sequence[Plan], told: frozenset[Requirement]
) -> None:
    """The plan of one preset out of `plans`; what one before it was `told` to fetch is there by then."""
    from gate.render.sentences import listed
    from gate.render.tables.drawing import write_table

    arms, preset = plan.planned(), plan.preset
    say(f"preset {preset.name} ({preset.kind}): {plan.title}")
    say(", ".join(f"{key} {_shown(value)}" for key, value in plan.settings().items()))
    rows = [
        (arm.name, arm.role, arm.engine, arm.prompts, str(arm.repeats), str(arm.runs), arm.settings) for arm in arms
    ]
    write_table(COLUMNS, rows, sys.stdout, words=len(COLUMNS))
    say(number_of(sum(arm.runs for arm in arms), "run"))
    if found := list(too_small_for_a_ratio(plan)):
        say(f"No speed may be quoted from this run: {'; '.join(found)}.")
    if found := list(too_small_for_a_share(plan)):
        say(f"Nor may more: {'; '.join(found)}.")
    for one in parity_left_out(plan, plans):
        of = f"{listed(one.arms)} ({one.drafter})"
        say(f"Speed and acceptance of {of} may be quoted only beside the drafter's parity: {one.remedy}.")
    if preset.memory_gb:
        say(f"takes {preset.memory_gb:g} GB of memory")
    say(_time(plan))
    for model in fetches_of(model.name for model in preset.models()):
        if model.by_hand:
            say(f"fetch, {model.disk_bytes / 1e9:.1f} GB: {model.command}")
    for plugin in used_plugins(preset.plugins()):
        say(f"plug-in {plugin.line}")
    for need in needs:
        say(f"ok {need.what}: fetched by then" if need.fetched and need in told else need.line)


def _time(plan: Plan) -> str:
    """About how long the plan of one preset takes, and where."""
    about = about_minutes(plan)
    if about is None:
        return "how long it takes is not known beforehand; the run tells when it expects to end"
    return f"takes {minutes_in_words(about[0])} {about[1]}"


def _print_in_all(plans: Sequence[Plan]) -> None:
    """About how long all presets take together, where there are several, and of all it is known."""
    known = [about for plan in plans if (about := about_minutes(plan)) is not None]
    if len(plans) > 1 and len(known) == len(plans):
        say(f"all {len(plans)} presets: {minutes_in_words(sum(minutes for minutes, _ in known))}")


def _takes(plan: Plan) -> dict[str, Any]:
    """Memory as the preset says, time, room for its models, and the commands that get those that no run gets."""
    models = fetches_of(model.name for model in plan.preset.models())
    about = about_minutes(plan)
    return {
        "memory_gb": plan.preset.memory_gb,
        "disk_gb": round(sum(model.disk_bytes for model in models) / 1e9, 1),
        "minutes": round(about[0], 1) if about is not None else None,
        "fetch": [model.command for model in models if model.by_hand],
    }


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_shown(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "none" if not value else "; ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
