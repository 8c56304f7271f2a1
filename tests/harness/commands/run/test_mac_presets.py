"""The Macs' presets run as they stand, on a tiny verifier built like theirs and a random drafter for it."""

from pathlib import Path
from typing import Any

import pytest

import harness.engines.mlx  # noqa: F401
from harness.cli import run
from harness.plans.preset_file import load_preset, preset_names
from reports.drafters import DRAFTERS
from reports.report import Report, load_report
from tests.harness.commands.tiny_runs import tiny_drafter, tiny_gemma4_4bit

LIKE_OTHERS = ("mac-fused-block4", "mac-code-trim", "mac-parity-bf16")
"""They differ from another by a size or a type alone."""
NAMES = tuple(
    pytest.param(name, marks=pytest.mark.torch if "torch" in load_preset(name).preset.packages() else ())
    for name in preset_names()
    if name.startswith("mac-") and name not in LIKE_OTHERS
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    top = tmp_path_factory.mktemp("mac")
    verifier = tiny_gemma4_4bit(top / "verifier")
    return verifier, tiny_drafter(top / "drafter", verifier)


def small(name: str) -> list[str]:
    """Overrides that change sizes only."""
    settings = ["platform=any", "samples=1"]
    preset: Any = load_preset(name).preset
    settings += ["workload.items=3"] if preset.kind != "niah" else ["workload.lines=12"]
    settings += ["blocks=3"] if preset.kind == "parity" else ["processes=1", "max_new_tokens=9"]
    return [part for setting in settings for part in ("--set", setting)]


def measured(name: str, folders: tuple[Path, Path], out: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setenv("K3_MAC_26B", str(folders[0]))
    monkeypatch.setenv("K3_MAC_26B_DFLASH", str(folders[1]))
    assert run(["eval", "--preset", name, *small(name), "--out", str(out)]) in (0, 2)
    return load_report(out)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_measures_what_it_says(
    name: str, folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = measured(name, folders, tmp_path / "r.json", monkeypatch)
    assert report.plan is not None
    assert report.plan.complete
    assert report.provenance is not None
    verifier = report.provenance.models[0]
    assert (verifier.id, verifier.quantisation) == ("mac-26b", "affine 4-bit, group 32")
    preset: Any = load_preset(name).preset
    assert [model.id for model in report.provenance.models] == [model.name for model in preset.models()]
    if report.parity is not None:
        assert len(report.parity.blocks) == 3
        agrees = all(block.candidate_tokens == block.reference_tokens for block in report.parity.blocks)
        assert agrees or report.parity.candidate_dtype != "float32"
        return
    arms = {arm.name: arm for arm in report.arms}
    for spec in preset.arms:
        arm = arms[spec.name]
        assert arm.engine == spec.engine
        assert (arm.drafter is not None) == (spec.drafter is not None)
        if arm.drafter is not None:
            assert arm.drafter.block_size == spec.drafter.block_size
            assert arm.drafter.graph == spec.drafter.graph
            assert arm.drafter.runtime == DRAFTERS[spec.drafter.kind].runtime
            assert all(row.speculation is not None and row.speculation.blocks for row in arm.measurements)
        if spec.restoration == "identity":
            assert all(row.restored_positions for row in arm.measurements)
