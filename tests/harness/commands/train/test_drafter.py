"""`k3 train drafter` from end to end on a tiny verifier, and the flags it refuses."""

from pathlib import Path

import pytest

from harness.cli import run
from harness.training.device import find_device, present
from harness.training.drafter.recipe import DrafterManifest
from tests.harness.training.tiny_folders import llama_folder

pytestmark = pytest.mark.torch

SMALL = [
    "--shards=1",
    "--batch=2",
    "--new-tokens=16",
    "--steps=4",
    "--interval=2",
    "--warm-up=1",
    "--anchors=8",
    "--sequences=2",
    "--block-size=4",
    "--held-out-samples=1",
    "--held-out-items=2",
    "--draft-vocab=50",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama_folder(tmp_path_factory.mktemp("verifier") / "llama")


def train(model: Path, out: Path, *more: str) -> int:
    return run(["train", "drafter", str(model), f"--out={out}", *SMALL, *more])


def manifest_of(out: Path) -> DrafterManifest:
    return DrafterManifest.model_validate_json((out / "manifest.json").read_bytes())


def test_it_trains_and_goes_on_from_what_it_trained(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, texts = tmp_path / "first", tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("the gardener paints the old bridge at noon. " * 40)
    assert train(model, out, "--corpus-only", f"--corpus={texts}") == 0
    assert not out.exists()
    assert train(model, out, f"--corpus={texts}") == 0
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("step 2 of 4: loss ") for line in lines)
    first = manifest_of(out)
    assert first.device == find_device("auto").type
    assert [seen.step for seen in first.progress] == [2, 4]
    assert first.corpus_recipe.texts is not None
    assert first.training.draft_vocab == 50
    assert str(tmp_path) not in (out / "manifest.json").read_text()
    assert train(model, tmp_path / "second", f"--start={out}", "--distil=0.5") == 0
    second = manifest_of(tmp_path / "second")
    assert second.before == first
    assert second.training.start == first.weights != second.weights


@pytest.mark.parametrize(
    ("flags", "code", "reason"),
    [
        (["--layers=2,1"], 64, "ascending layer numbers"),
        (["--layers=0,7"], 64, "there is no layer 7; the verifier has 0 to 2"),
        (["--layers=0,1", "--distil=0.5"], 64, "--distil: needs the last layer, 2"),
        (["--distil=1"], 64, "--distil from 0"),
        (["--mask-token=4000"], 64, "--mask-token: 4000 is none"),
        (["--corpus=nowhere"], 64, "--corpus nowhere: no such folder"),
        (["--horizon=0"], 64, "--rate and --horizon must be above 0"),
        (["--mix=code"], 64, "--mix 'code': give some of templates, code, prose, own, each once with a share"),
        (["--mix=code=0"], 64, "--mix 'code=0': give some of"),
        (["--mix=poems=1"], 64, "--mix 'poems=1': give some of"),
        (["--mix=code=1,code=2"], 64, "--mix 'code=1,code=2': give some of"),
        (["--mix=own=1"], 64, "--corpus and the kind own in --mix: give both or neither"),
        (["--start=nowhere"], 3, "nowhere/manifest.json: missing"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    flags: list[str], code: int, reason: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(model, tmp_path / "out", *flags) == code
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("k3: ")
    assert reason in complaint
    assert not (tmp_path / "out").exists()


def test_a_device_that_is_not_there_is_refused_in_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = next(name for name in ("cuda", "mps") if name not in present())
    assert train(model, tmp_path / "out", f"--device={missing}") == 3
    assert capsys.readouterr().err.startswith(f"k3: --device {missing}: PyTorch finds none here; it finds ")
