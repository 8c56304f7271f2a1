"""`k3 presets show`: a preset as it stands in its file."""

from harness.plans.preset_file import load_preset, read_preset
from reports.untrusted.one_line import every_line


def command(name: str) -> None:
    """Print a preset's file, by its name or its path.

    It is read as a preset first; `k3 presets list` has the names.
    """
    load_preset(name)
    print(every_line(read_preset(name).decode()), end="")
