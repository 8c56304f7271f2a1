"""Fine-tuning on the verifier's logits: what it follows, that it helps, and that it can be stopped at any time."""

from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from harness.base.errors import ModelError
from harness.engines.mlx.verifier.load import load_verifier
from harness.models.f_theta_folder import MANIFEST, WEIGHTS, FThetaManifest, read_manifest
from harness.models.folder.digest import weights_digest
from harness.models.resolve import resolve
from harness.training.f_theta.corpus import FThetaTexts
from harness.training.f_theta.divergence import Divergence
from harness.training.f_theta.fit import Moments, correlations, whitener
from harness.training.f_theta.reader import Reader
from harness.training.f_theta.train import FThetaJob, FThetaRecipe, train_f_theta
from harness.training.f_theta.tuning import HELD_OUT_FROM, TUNED_FROM, TuningRecipe, Whitened
from tests.harness.training.tiny_folders import llama_folder
from tests.tokenizers_for_tests import model_text

STEPS = TuningRecipe(steps=4, rate=1e-2, sequences=1, interval=2)


def job_of(folder: str, out: Path, tuning: TuningRecipe | None = STEPS, **recipe: object) -> FThetaJob:
    verifier = resolve(folder)
    asked = FThetaRecipe(
        verifier=verifier.weights, seed=3, proposer_layer=2, lines=8, count=2, held_out=1, ridge=0.3, texts=None
    ).replace(**recipe)
    return FThetaJob(verifier, asked, (), 0, out, out.with_name(f"{out.name}.work"), "k3 train ftheta", tuning)


def quiet(text: str) -> None:
    assert "\n" not in text


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(llama_folder(tmp_path_factory.mktemp("verifier") / "llama"))


@pytest.fixture(scope="module")
def tuned(llama: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FThetaManifest]:
    out = tmp_path_factory.mktemp("tuned") / "made"
    return out, train_f_theta(replace(job_of(llama, out), recall_prompts=1), quiet)


def test_a_poor_ridge_on_k3_tiny_strays_less_after_it(tmp_path: Path) -> None:
    recipe = TuningRecipe(steps=4, rate=3e-3, sequences=2, interval=4)
    job = job_of("k3-tiny", tmp_path / "made", recipe, proposer_layer=3, lines=12, count=1)
    told: list[str] = []
    manifest = train_f_theta(job, told.append)
    found = manifest.fine_tuning
    assert found is not None
    assert 0 < found.divergence_after < found.divergence_before
    assert found.kept
    assert found.ridge_weights != manifest.weights == weights_digest(job.out)
    assert (found.recall_before, found.recall_after, manifest.recall) == (None, None, None)
    assert read_manifest(job.out) == manifest
    assert manifest.recipe is not None
    assert len(manifest.recipe.prompts) == 2, "the ridge's text and that of the fine-tuning"
    assert f"held-out divergence {found.divergence_before:.4g} with the ridge's maps" in told
    assert any(line.startswith("step 4 of 4: divergence ") for line in told)


def test_stopped_at_a_checkpoint_it_ends_with_the_same_maps(
    llama: str, tuned: tuple[Path, FThetaManifest], tmp_path: Path
) -> None:
    class KilledError(Exception):
        pass

    def kill(text: str) -> None:
        if text.startswith("step 2"):
            raise KilledError

    job = replace(job_of(llama, tmp_path / "parts"), recall_prompts=1)
    with pytest.raises(KilledError):
        train_f_theta(job, kill)
    left = read_manifest(job.out)
    assert (left.fine_tuning, left.weights) == (None, weights_digest(job.out))
    assert left.recall is not None
    resumed = train_f_theta(job, quiet)
    assert resumed == tuned[1]
    assert resumed.fine_tuning is not None
    assert resumed.fine_tuning.recall_before == left.recall
    assert resumed.fine_tuning.recall_after is not None
    assert (job.out / WEIGHTS).read_bytes() == (tuned[0] / WEIGHTS).read_bytes()


def test_maps_that_became_worse_are_not_kept(llama: str, tmp_path: Path) -> None:
    manifest = train_f_theta(job_of(llama, tmp_path / "made", STEPS.replace(rate=0.9)), quiet)
    found = manifest.fine_tuning
    assert found is not None
    assert found.divergence_after > found.divergence_before
    assert not found.kept
    assert manifest.weights == found.ridge_weights == weights_digest(tmp_path / "made")
    assert read_manifest(tmp_path / "made") == manifest


@pytest.mark.parametrize(
    ("damage", "said"), [("truncated", "no whole checkpoint; delete it"), ("another rate", "belongs to another run")]
)
def test_a_checkpoint_that_does_not_fit_is_refused(damage: str, said: str, llama: str, tmp_path: Path) -> None:
    job = job_of(llama, tmp_path / "made", STEPS.replace(steps=1))
    train_f_theta(job, quiet)
    path = job.work / "fine-tuning.safetensors"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:900])
    else:
        job = replace(job, tuning=STEPS.replace(steps=1, rate=1e-3))
    with pytest.raises(ModelError, match=said) as caught:
        train_f_theta(job, quiet)
    assert "\n" not in str(caught.value)


def test_the_gradient_is_that_of_what_the_engine_does(llama: str, tuned: tuple[Path, FThetaManifest]) -> None:
    """Two windows of text: nothing is evicted before the last, so that the gradient leaves nothing out."""
    verifier = load_verifier(Path(llama))
    divergence = Divergence.on(verifier, Reader(verifier, 2), str(tuned[0]))
    whitened = Whitened(divergence.projection, mx.eye(32))
    tokens = np.random.default_rng(0).integers(3, 200, 128).tolist()
    value, gradient = divergence.gradient(tokens, whitened.none(), whitened.maps)
    assert value == divergence.of(tokens, divergence.projection) > 0
    size = sum(float(np.square(np.array(part)).sum()) for part in gradient.values())
    step = 3e-3

    def moved(sign: float) -> float:
        shifts = {name: sign * step / size**0.5 * part for name, part in gradient.items()}
        return divergence.of(tokens, whitened.maps(shifts))

    assert (moved(1) - moved(-1)) / (2 * step) == pytest.approx(size**0.5, rel=0.05)
    assert all(mx.any(part != 0).item() for part in gradient.values())


def test_whitened_features_are_uncorrelated() -> None:
    rng = np.random.default_rng(1)
    features = (rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6)) + 3).astype(np.float32)
    moments = Moments.empty(6, 2)
    moments.add(features, features[:, :2])
    mean, scale, _ = correlations(moments, 1e-6)
    white = (features - mean) / scale @ whitener(moments, 1e-6)
    assert np.allclose(white.T @ white / len(white), np.eye(6), atol=1e-2)


def test_its_texts_hold_needles_and_are_neither_fitted_to_nor_held_out() -> None:
    corpus = FThetaTexts(3, 20, "completion", model_text())
    texts = [corpus.text(TUNED_FROM + index).tokens for index in range(5)]
    assert sum("the secret code is" in str(model_text().decode(text)) for text in texts) == 4
    others = {corpus.text(first + index).tokens for first in (0, HELD_OUT_FROM) for index in range(5)}
    assert not others & set(texts)


def test_the_rate_rises_and_falls() -> None:
    recipe = TuningRecipe(steps=20, rate=1.0, sequences=1, interval=5)
    rates = [recipe.rate_at(step) for step in range(20)]
    assert rates[0] == 0.5
    assert max(rates) == rates[2] == 1.0
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rates[-1] == pytest.approx(0.0556, abs=1e-3)


def test_the_manifest_of_a_ridge_alone_says_nothing_of_it(llama: str, tmp_path: Path) -> None:
    assert train_f_theta(job_of(llama, tmp_path / "made", None), quiet).fine_tuning is None
    assert "fine_tuning" in (tmp_path / "made" / MANIFEST).read_text()
