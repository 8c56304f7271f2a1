"""`k3 presets show`: a preset as it stands in its file."""

from harness.plans.preset_file import load_preset, read_preset


def command(name: str) -> None:
    """Print a preset's file, once it is seen to be one: of `k3 presets list`, or a path."""
    load_preset(name)
    print(read_preset(name).decode(), end="")
