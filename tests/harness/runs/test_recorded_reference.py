"""Which recording a parity run is held to, what is said when none fits, and that the shipped one can be made again."""

from pathlib import Path

import pytest

from harness.base.errors import CannotRunError, UsageError
from harness.checks.mlx.record_drafts import record
from harness.cli import run
from harness.engines.mlx.drafters.load import load_drafter
from harness.plans.kinds import plan_of
from harness.plans.preset import ParityPreset, RuntimeSpec
from harness.plans.preset_file import load_preset, preset_of_flags
from harness.runs.loaded.loading import load_models
from harness.runs.loaded.mlx_models import LoadedMlxModels
from harness.runs.recorded_reference import find_recording
from reports.records.recorded_drafts import RecordedDrafts
from reports.report import load_report
from workloads.code import Code

NOWHERE = "sha256:" + "9" * 64


def preset_with(*overrides: str) -> ParityPreset:
    preset = load_preset("parity-tiny-recorded", overrides).preset
    assert isinstance(preset, ParityPreset)
    return preset


@pytest.fixture(scope="module")
def loaded() -> LoadedMlxModels:
    verifier, *others = preset_with().models()
    return load_models(verifier.name, others)


def prompts_of(preset: ParityPreset, loaded: LoadedMlxModels) -> list[tuple[int, ...]]:
    workload = Code(items=preset.workload.items, samples=preset.samples, seed=preset.seed)
    return [prompt.tokens for prompt in workload.prompts(loaded.text)]


def found(loaded: LoadedMlxModels, *overrides: str) -> RecordedDrafts:
    preset = preset_with(*overrides)
    return find_recording(preset, loaded.models, prompts_of(preset, loaded))[1]


def test_the_shipped_preset_has_its_recording_as_has_a_part_of_it(loaded: LoadedMlxModels) -> None:
    assert found(loaded) == found(loaded, "samples=2", "blocks=3")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("block_size=4", "in blocks of 8, not of 4"),
        ("reference.dtype=bfloat16", "in float32, not in bfloat16"),
        ("seed=7", "after 5 prompts (seed 42, workload.items 12), of which sample 0 is none"),
        ("workload.items=5", "after 5 prompts (seed 42, workload.items 12), of which sample 0 is none"),
        ("samples=6", "of which sample 5 is none"),
    ],
)
def test_what_differs_is_named_with_a_remedy(loaded: LoadedMlxModels, override: str, said: str) -> None:
    with pytest.raises(CannotRunError) as caught:
        found(loaded, override)
    assert said in str(caught.value)
    assert "pip install '.[torch]'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("verifier", "with other weights of the verifier than those of k3-tiny"),
        ("drafter", "no reference was recorded"),
    ],
)
def test_other_weights_are_no_match(loaded: LoadedMlxModels, role: str, said: str) -> None:
    models = [model.replace(weights=NOWHERE) if model.role == role else model for model in loaded.models]
    preset = preset_with()
    with pytest.raises(CannotRunError, match=said):
        find_recording(preset, models, prompts_of(preset, loaded))


def test_a_recording_is_no_candidate() -> None:
    document = {"name": "p", "title": "", "kind": "parity", "model": "m", "drafter": "d", "samples": 1}
    with pytest.raises(UsageError, match="a recording drafts nothing"):
        plan_of(preset_of_flags(document | {"candidate": {"kind": "recorded"}}))


def test_the_command_holds_the_drafter_to_it_or_says_why_it_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["parity", "--model", "k3-tiny", "--drafter", "k3-tiny-dflash", "--recorded", "--samples", "2"]
    assert run([*command, "--block-size", "4", "--out", str(tmp_path / "p.json")]) == 3
    assert [line for line in capsys.readouterr().err.splitlines() if line[0] != "["] == [
        "k3: the reference of k3-tiny-dflash was recorded in blocks of 8, not of 4: compare with PyTorch itself, by "
        "`k3 parity` without --recorded, which needs pip install '.[torch]' in K3's source folder"
    ]
    assert list(tmp_path.iterdir()) == []
    assert run([*command, "--out", str(tmp_path / "p.json")]) in (0, 2)
    report = load_report(tmp_path / "p.json")
    assert report.parity is not None
    assert report.parity.recording is not None
    assert [block.candidate_tokens for block in report.parity.blocks] == [
        block.reference_tokens for block in report.parity.blocks
    ]


@pytest.mark.torch
def test_pytorch_proposes_again_what_was_recorded(loaded: LoadedMlxModels) -> None:
    preset = preset_with("samples=2")
    spec = preset.drafter_as(RuntimeSpec(kind="dflash-torch"))
    made = record(loaded.verifier, load_drafter(spec, loaded.verifier), prompts_of(preset, loaded), spec, blocks=3)
    for again, shipped in zip(made, found(loaded).streams, strict=False):
        assert again.prompt == shipped.prompt
        assert again.tokens == shipped.tokens[: len(again.tokens)]
        assert again.proposals == shipped.proposals[: len(again.proposals)]
