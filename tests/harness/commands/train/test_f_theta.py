"""`k3 train ftheta` from end to end on a tiny verifier, and the flags it refuses."""

from pathlib import Path

import pytest

from harness.cli import run
from harness.models.f_theta_folder import read_manifest
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


def test_fine_tuning_and_recall_are_flags(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made"
    assert train(model, out, "--fine-tune=2", "--sequences=1", "--interval=1", "--rate=1e-3") == 0
    made = read_manifest(out)
    assert made.fine_tuning is not None
    assert (made.fine_tuning.steps, made.fine_tuning.rate, made.recall) == (2, 1e-3, None)
    assert train(model, out, "--recall-only", "--recall-prompts=2") == 0
    tried = read_manifest(out)
    assert tried.recall is not None
    assert (tried.recall.prompts, tried.recall.lines) == (2, 8)
    assert tried.replace(recall=None) == made
    assert "recalls 0 of 2 (verifier 0)" in capsys.readouterr().err


def test_recall_of_what_is_no_f_theta_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(model, tmp_path / "none", "--recall-only", "--recall-prompts=1") == 3
    assert "manifest.json: missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--ridge=0", "--ridge 0: must lie"),
        ("--rate=0", "--rate 0: must lie"),
        ("--proposer-layer=3", "there is no layer 3"),
        ("--recall-only", "--recall-only: fits nothing"),
    ],
)
def test_flags_that_cannot_be_are_refused_in_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, said: str
) -> None:
    assert train(model, tmp_path / "made", flag) == 64
    assert said in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
