"""`k3 presets`: what can be run by name."""

import json
from importlib import resources

import typer

from harness.plans.preset_file import load_preset, preset_names

app = typer.Typer(rich_markup_mode=None)


@app.command("list")
def list_presets(json_output: bool = typer.Option(False, "--json", help="Print one JSON document.")) -> None:
    """List the presets, a line each."""
    loaded = {name: load_preset(name).preset for name in preset_names()}
    if json_output:
        rows = [{"name": n, "title": p.title, "kind": p.kind, "model": p.model} for n, p in loaded.items()]
        print(json.dumps(rows, indent=1))
        return
    width = max(len(name) for name in loaded)
    for name, preset in loaded.items():
        print(f"{name:<{width}}  {preset.title}")


@app.command("show")
def show_preset(name: str) -> None:
    """Print the preset's file."""
    load_preset(name)
    print(resources.files("presets").joinpath(f"{name}.toml").read_text(), end="")
