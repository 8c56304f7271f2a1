"""A sweep file is hostile: bounded, typed, and never more than the settings of a preset."""

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.sweep.sweep_file import FILE_LIMIT, SweepFile, read_sweep

GRID = """
name = "windows"
presets = ["code-tiny"]
seeds = [1, 2]
machines = ["m4max"]

[settings]
samples = [6, 12]
ignore_turn_stop = [true]
"workload.form" = ["stdlib"]

[settings.arms.fused.drafter]
block_size = [4, 8]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_grid_reads_as_the_settings_of_eval(tmp_path: Path) -> None:
    assert read_sweep(written(tmp_path, GRID)) == SweepFile(
        name="windows",
        presets=("code-tiny",),
        settings={
            "samples": ("6", "12"),
            "ignore_turn_stop": ("true",),
            "workload.form": ('"stdlib"',),
            "arms.fused.drafter.block_size": ("4", "8"),
        },
        seeds=(1, 2),
        machines=("m4max",),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "name: is missing"),
        ("name = 1", "name"),
        ('name = "a"\npresets = []', "presets"),
        ('name = "../a"\npresets = ["demo"]', "name"),
        ('name = "a"\npresets = ["demo"]\nshell = "rm"', "shell"),
        ('name = "a"\npresets = ["demo"]\nseeds = [-1]', "seeds.0"),
        ('name = "a"\npresets = ["demo"]\nseeds = [true]', "seeds.0"),
        ('name = "a"\npresets = ["demo"]\nmachines = ["a b"]', "machines.0"),
        ('name = "a"\npresets = ["demo"]\nsettings = 3', "settings: not a table"),
        ('name = "a"\npresets = ["demo"]\n[settings]\nsamples = 3', "write samples = \\[...\\]"),
        ('name = "a"\npresets = ["demo"]\n[settings]\nsamples = []', "not a list of values"),
        ('name = "a"\npresets = ["demo"]\n[settings]\nsamples = [2020-01-01]', "values are texts, numbers"),
        ('name = "a"\npresets = ["demo"]\n[settings.a.b.c.d.e.f.g]\nx = [1]', "no preset has a key of so many parts"),
        ("name = [" + "[" * 5000, "no TOML"),
        ("\x00", "no TOML"),
        ("#" * (FILE_LIMIT + 1), "a sweep has"),
    ],
)
def test_what_is_no_sweep_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as told:
        read_sweep(written(tmp_path, text))
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_sweep(tmp_path / "none.toml")
