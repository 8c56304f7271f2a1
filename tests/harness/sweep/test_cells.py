"""The cells of a grid, and which report is whose."""

from importlib import resources
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset, read_preset
from harness.sweep.cells import MOST_CELLS, cells_of, unlike
from harness.sweep.sweep_file import SweepFile
from reports.report import load_report

EVIDENCE = Path(str(resources.files("reports"))) / "evidence" / "code-dflash-tiny.json"


def grid(**fields: object) -> SweepFile:
    return SweepFile.model_validate({"name": "trial", "presets": ("code-tiny",)} | fields)


def test_a_grid_has_every_combination_once() -> None:
    cells = cells_of(
        grid(presets=("code-tiny", "demo"), settings={"samples": ("6", "7")}, seeds=(1, 2, 3), machines=("a", "b"))
    )
    assert len(cells) == len({cell.name for cell in cells}) == 2 * 2 * 3 * 2
    first = cells[0]
    assert first.plan.loaded.overrides == ("samples=6", "seed=1")
    assert (first.plan.preset.samples, first.plan.preset.seed, first.machine) == (6, 1, "a")
    assert first.name.startswith("code-tiny-")
    assert first.name.endswith("-a")
    demo = cells[-1]
    assert [path.name.removeprefix(demo.name) for path in demo.reports(Path())] == [
        "-parity-tiny-recorded.json",
        "-code-tiny.json",
        ".json",
    ]
    assert {model.name for model in demo.models()} == {"k3-tiny", "k3-tiny-dflash", "k3-tiny-ftheta"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"seeds": tuple(range(MOST_CELLS + 1))[:10_000], "machines": ("a", "b")}, "20000 cells; 10000 at most"),
        ({"presets": ("code-tiny", "code-tiny")}, "is there twice"),
        ({"presets": ("no-such",)}, "no preset named 'no-such'"),
        ({"presets": ("../../no/such.toml",)}, "cannot be read"),
        ({"presets": ("/etc/passwd",)}, "no TOML"),
        ({"settings": {"smaples": ("3",)}}, "no such key"),
        ({"settings": {"samples": ("-3",)}}, "samples"),
        ({"settings": {"name": ('"x"',)}}, "no such key"),
        ({"settings": {"workload.prompts": ('"/etc/passwd"',)}}, "a file of prompts is on no worker"),
    ],
)
def test_what_eval_refuses_is_refused_before_anything_runs(fields: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        cells_of(grid(**fields))


def test_an_own_preset_goes_as_its_text(tmp_path: Path) -> None:
    text = read_preset("code-tiny").decode().replace('name = "code-tiny"', 'name = "mine"')
    (tmp_path / "mine.toml").write_text(text)
    (cell,) = cells_of(grid(presets=(str(tmp_path / "mine.toml"),)))
    assert (cell.own, cell.preset) == (True, text)
    assert str(tmp_path) not in cell.name


def test_a_report_is_of_its_cell_or_it_is_told_why_not() -> None:
    plan, measured = plan_of(load_preset("code-dflash-tiny")), load_report(EVIDENCE)
    assert measured.plan is not None
    assert measured.workload is not None
    assert measured.provenance is not None
    weights = (model.weights or "" for model in measured.provenance.models)
    digest = plan.digest(*weights, measured.workload.digest or "")
    report = measured.replace(plan=measured.plan.replace(digest=digest))
    assert unlike(plan, None, report) is None
    assert unlike(plan_of(load_preset("code-dflash-tiny", ("seed=1",))), None, report) is not None
    assert unlike(plan, "m4max", report) == "it was not made on m4max"
    assert unlike(plan, None, report.replace(gate=None)) == "it is not whole"
    assert report.provenance is not None
    first, *others = report.provenance.models
    swapped = (first.replace(weights="sha256:" + "0" * 64), *others)
    other = report.replace(provenance=report.provenance.replace(models=swapped))
    assert unlike(plan, None, other) == "its plan digest is not that of its cell"
