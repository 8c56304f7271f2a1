"""`k3 presets show`: a preset as it stands in its file."""

from importlib import resources

from harness.plans.preset_file import load_preset


def command(name: str) -> None:
    """Print the preset's file."""
    load_preset(name)
    print(resources.files("presets").joinpath(f"{name}.toml").read_text(), end="")
