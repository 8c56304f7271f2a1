"""`k3 train ftheta` from end to end on a tiny verifier, and the flags it refuses."""

from pathlib import Path

import pytest

from harness.cli import run
from harness.models.f_theta import read_manifest
from tests.harness.training.tiny_folders import llama_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama_folder(tmp_path_factory.mktemp("verifier") / "llama")


def train(model: Path, out: Path, *more: str) -> int:
    small = ["--texts=5", "--held-out=1", "--lines=8", "--recall-prompts=0"]
    return run(["train", "ftheta", str(model), f"--out={out}", *small, *more])


def test_it_fits_and_more_texts_add_to_it(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, texts = tmp_path / "made", tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("the gardener paints the old bridge at noon. " * 40)
    assert train(model, out, f"--corpus={texts}", "--proposer-layer=1") == 0
    first = read_manifest(out)
    assert (first.corpus.texts, first.proposer.layer, first.recall) == (5, 1, None)
    assert str(tmp_path) not in (out / "manifest.json").read_text()
    assert train(model, out, f"--corpus={texts}", "--proposer-layer=1", "--texts=7") == 0
    second = read_manifest(out)
    assert second.corpus.texts == 7
    assert second.weights != first.weights
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("layer 2: unexplained ") for line in lines)


def test_the_features_come_from_three_fifths_of_the_depth(model: Path, tmp_path: Path) -> None:
    assert train(model, tmp_path / "made") == 0
    assert read_manifest(tmp_path / "made").proposer.layer == 2


@pytest.mark.parametrize(
    ("flag", "said"), [("--ridge=0", "--ridge 0: must lie"), ("--proposer-layer=3", "there is no layer 3")]
)
def test_flags_that_cannot_be_are_refused_in_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, said: str
) -> None:
    assert train(model, tmp_path / "made", flag) == 64
    assert said in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
