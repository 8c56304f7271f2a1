"""`k3 presets list`: what can be run by name."""

import json
from typing import Annotated

import typer

from harness.plans.preset_file import load_preset, preset_names
from reports.printing.say import say


def command(json_output: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the presets, a line each."""
    loaded = {name: load_preset(name).preset for name in preset_names()}
    if json_output:
        rows = [{"name": n, "title": p.title, "kind": p.kind, "model": p.model} for n, p in loaded.items()]
        print(json.dumps(rows, indent=1))
        return
    width = max(len(name) for name in loaded)
    for name, preset in loaded.items():
        say(f"{name:<{width}}  {preset.title}", hang=width + 2)
