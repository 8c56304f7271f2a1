"""`k3 train ftheta` on tiny verifiers: it resumes, describes what it made, and makes what the engine runs."""

from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest

from harness.base.errors import EngineError, ModelError, UsageError
from harness.engines.base import DecodeLimit
from harness.engines.mlx.engines.incremental import IncrementalEngine
from harness.engines.mlx.verifier.load import load_verifier
from harness.engines.spec import EngineSettings, RestorationSpec
from harness.models.f_theta_folder import WEIGHTS, read_manifest
from harness.models.resolve import resolve
from harness.training.f_theta.train import FThetaJob, FThetaRecipe, train_f_theta
from tests.harness.training.tiny_folders import gemma_folder, llama_folder

FOLDERS = {"llama": llama_folder, "gemma": gemma_folder}


def job_of(folder: Path, out: Path, count: int = 4, **recipe: object) -> FThetaJob:
    verifier = resolve(str(folder))
    asked = FThetaRecipe(
        verifier=verifier.weights,
        seed=3,
        proposer_layer=2,
        lines=8,
        count=count,
        held_out=1,
        ridge=1e-3,
        texts=None,
    )
    return FThetaJob(
        verifier, asked.replace(**recipe), (), 0, out, out.with_name(f"{out.name}.work"), "k3 train ftheta"
    )


def arrays(folder: Path) -> dict[str, mx.array]:
    loaded = mx.load(str(folder / WEIGHTS))
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("family", ["llama", "gemma"])
def test_the_layer_that_is_observed_restores_best_and_the_engine_runs_it(family: str, tmp_path: Path) -> None:
    folder = FOLDERS[family](tmp_path / "verifier")
    manifest = train_f_theta(job_of(folder, tmp_path / "made", count=10), lambda line: None)
    assert read_manifest(tmp_path / "made") == manifest
    assert manifest.recipe is not None
    assert manifest.recipe.prompts == (manifest.corpus.digest,)
    assert "synthetic/notes" in manifest.recipe.groups
    assert manifest.restorable == tuple(range(manifest.layers))
    errors = [fit.values for fit in manifest.fits]
    assert errors[2] == min(errors)
    verifier = load_verifier(folder)
    request = RestorationSpec(restoration="f_theta", sink=2, window=5, f_theta=str(tmp_path / "made"))
    engine = IncrementalEngine(verifier, EngineSettings(restoration=request))
    assert engine.restoration.weights == manifest.weights
    assert engine.restoration.feature_bytes == 64
    session = engine.prefill(list(range(3, 43)))
    list(engine.decode(session, DecodeLimit(5, {})))
    stats = engine.stats(session)
    assert 0 < stats.restored_positions <= stats.evicted_positions
    assert stats.restoration_s > 0
    assert stats.aux_s > 0


def test_a_run_that_was_stopped_goes_on_to_the_same_maps(tmp_path: Path) -> None:
    folder = llama_folder(tmp_path / "verifier")
    train_f_theta(job_of(folder, tmp_path / "whole"), lambda line: None)
    train_f_theta(job_of(folder, tmp_path / "parts", count=2), lambda line: None)
    seen: list[str] = []
    train_f_theta(job_of(folder, tmp_path / "parts"), seen.append)
    whole, parts = arrays(tmp_path / "whole"), arrays(tmp_path / "parts")
    assert all(mx.array_equal(whole[name], parts[name]) for name in whole)
    assert sum("texts" in line for line in seen) == 1
    with pytest.raises(UsageError, match="holds 4 already"):
        train_f_theta(job_of(folder, tmp_path / "parts", count=3), lambda line: None)
    with pytest.raises(ModelError, match="another run"):
        train_f_theta(job_of(folder, tmp_path / "parts", seed=9), lambda line: None)


def test_recall_of_held_out_prompts_goes_into_the_manifest(tmp_path: Path) -> None:
    folder = llama_folder(tmp_path / "verifier")
    job = replace(job_of(folder, tmp_path / "made", lines=12), recall_prompts=1)
    manifest = train_f_theta(job, lambda line: None)
    assert manifest.recall is not None
    assert manifest.recall.prompts == 1
    assert read_manifest(tmp_path / "made").recall == manifest.recall


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    folder, made = llama_folder(tmp_path / "verifier"), tmp_path / "made"
    with pytest.raises(UsageError, match="no layer 3; the verifier has 0 to 2"):
        train_f_theta(job_of(folder, made, proposer_layer=3), lambda line: None)
    train_f_theta(job_of(folder, made), lambda line: None)

    def engine_on(verifier: Path, exact: tuple[int, ...] = ()) -> IncrementalEngine:
        request = RestorationSpec(restoration="f_theta", exact_layers=exact, f_theta=str(made))
        return IncrementalEngine(load_verifier(verifier), EngineSettings(restoration=request))

    with pytest.raises(EngineError, match="all 3 layers are exact"):
        engine_on(folder, (0, 1, 2))
    with pytest.raises(ModelError, match="made for a verifier with weights"):
        engine_on(gemma_folder(tmp_path / "other"))
    spoilt = arrays(made)
    spoilt["layers.1.bias"] = mx.full(spoilt["layers.1.bias"].shape, float("inf"), mx.float16)
    mx.save_safetensors(str(made / WEIGHTS), spoilt)
    with pytest.raises(ModelError, match="not those its manifest names"):
        engine_on(folder)
