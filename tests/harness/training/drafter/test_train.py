"""A drafter trained for a tiny verifier: it learns, can be stopped, and is the same drafter in all three runtimes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.base.errors import ModelError, UsageError
from harness.checks.mlx.compare_drafters import compare_drafters
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.mlx.drafters.dflash.torch_runtime import TorchDflashDrafter
from harness.engines.mlx.verifier.load import load_verifier
from harness.engines.spec import DrafterSpec
from harness.models.resolve import resolve
from harness.training.corpus import CorpusRecipe, TextKind
from harness.training.drafter.export import rounded
from harness.training.drafter.held_out.caution import chosen
from harness.training.drafter.recipe import DrafterManifest, TrainingRecipe
from harness.training.drafter.train import DrafterJob, train_drafter
from tests.harness.training.tiny_folders import gemma_folder, llama_folder

pytestmark = pytest.mark.torch

FOLDERS = {"llama": llama_folder, "gemma": gemma_folder}


def job_of(model: Path, root: Path, **training: int | float) -> DrafterJob:
    verifier = resolve(str(model))
    corpus = CorpusRecipe(
        verifier=verifier.weights,
        seed=3,
        texts=None,
        kinds=(TextKind(name="templates", seed=3, share=1),),
        new_tokens=24,
        batch=3,
        layers=(0, 2),
        dtype="float32",
        held_out_seed=42,
        held_out_samples=2,
        held_out_items=2,
    )
    settings = {"shards": 2, "steps": 12, "interval": 4, "warm_up": 2, "rate": 3e-3, "anchors": 16, "sequences": 2}
    recipe = TrainingRecipe(mask_token_id=1, block_size=4, **settings | training)
    out, work = root / "out", root / "work"
    return DrafterJob(verifier, corpus, (), recipe, out, work, "k3 train drafter", torch.device("cpu"))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama_folder(tmp_path_factory.mktemp("verifier") / "llama")


def quiet(text: str) -> None:
    assert "\n" not in text


@pytest.mark.parametrize("make", FOLDERS.values(), ids=FOLDERS)
def test_it_learns_and_all_runtimes_propose_the_same(make: Callable[[Path], Path], tmp_path: Path) -> None:
    model = make(tmp_path / "model")
    job = job_of(model, tmp_path, steps=60, interval=10, rate=1e-2)
    manifest = train_drafter(job, quiet)
    losses = [seen.loss for seen in manifest.progress]
    assert losses[-1] < 0.9 * losses[0]
    assert manifest == DrafterManifest.model_validate_json((job.out / "manifest.json").read_bytes())
    assert resolve(str(job.out)).weights == manifest.weights
    assert manifest.recipe is not None
    assert manifest.recipe.groups == ("synthetic/javascript_handlers", "synthetic/python_tests"), "of two shards"
    config = json.loads((job.out / "config.json").read_text())
    assert config["dflash_config"]["is_causal"] is False
    assert config["k3_draft_vocab"] == len(load_file(job.out / "model.safetensors")["draft_vocab"])
    verifier = load_verifier(model)
    reference = TorchDflashDrafter(job.out, manifest.weights, verifier, "float32")
    candidate = DflashDrafter(job.out, manifest.weights, verifier, "float32")
    prompts = [[5, 9, 200, 31], list(range(40, 75))]
    spec = DrafterSpec(kind="dflash", model=str(job.out), block_size=4)
    result = compare_drafters(verifier, reference, candidate, prompts, spec, blocks=5)
    assert all(block.reference_tokens == block.candidate_tokens for block in result.blocks)
    assert manifest.progress[-1].held_out.blocks > 0


def test_it_learns_how_sure_it_should_be_on_what_it_was_not_trained_on(llama: Path, tmp_path: Path) -> None:
    said: list[str] = []
    manifest = train_drafter(job_of(llama, tmp_path, steps=4), said.append)
    whole, *cautious = manifest.cautions
    assert whole.sure is None
    assert whole.held_out == manifest.progress[-1].held_out
    assert whole.gain < 0.95, "four steps taught it little"
    best = chosen(manifest.cautions)
    assert best in cautious
    assert manifest.sure == best.sure
    assert sum(best.held_out.drafted) < sum(whole.held_out.drafted)
    assert said[-1].endswith(f"{best.gain:.2f} with `sure = {best.sure}` in its arm (worst {best.worst:.2f})")


def test_stopped_at_any_checkpoint_it_ends_with_the_same_weights(llama: Path, tmp_path: Path) -> None:
    whole = train_drafter(job_of(llama, tmp_path / "whole"), quiet)

    class KilledError(Exception):
        pass

    def kill(text: str) -> None:
        if text.startswith("step 8"):
            raise KilledError

    job = job_of(llama, tmp_path / "parts")
    with pytest.raises(KilledError):
        train_drafter(job, kill)
    resumed = train_drafter(job, quiet)
    assert [seen.step for seen in resumed.progress] == [4, 8, 12]
    assert resumed.weights == whole.weights
    assert resumed.progress == whole.progress
    assert train_drafter(job, quiet) == resumed


def test_logits_can_be_distilled(llama: Path, tmp_path: Path) -> None:
    manifest = train_drafter(job_of(llama, tmp_path, distil=0.5, steps=24, interval=8), quiet)
    assert manifest.progress[-1].loss < manifest.progress[0].loss


def test_another_recipe_does_not_go_on_from_a_checkpoint(llama: Path, tmp_path: Path) -> None:
    train_drafter(job_of(llama, tmp_path, steps=4), quiet)
    with pytest.raises(UsageError, match="of another recipe or corpus; delete it"):
        train_drafter(job_of(llama, tmp_path, steps=8), quiet)


@pytest.mark.parametrize("damage", ["truncated", "a tensor of another shape", "no progress"])
def test_a_damaged_checkpoint_is_refused_in_one_line(damage: str, llama: Path, tmp_path: Path) -> None:
    job = job_of(llama, tmp_path, steps=4)
    train_drafter(job, quiet)
    path = job.work / "checkpoint.safetensors"
    data = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "no progress":
        save_file(load_file(path), path)
    else:
        from safetensors import safe_open

        with safe_open(path, "pt") as held:
            stated = held.metadata()
        tensors = load_file(path)
        save_file(tensors | {"net.norm.weight": torch.ones(7)}, path, stated)
    with pytest.raises(ModelError, match="no whole checkpoint of this drafter; delete it") as caught:
        train_drafter(job, quiet)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kept", "error"), [(10, 2**-11), (4, 2**-5)])
def test_weights_are_rounded_to_the_bits_that_are_kept(kept: int, error: float) -> None:
    weights = torch.cat([torch.linspace(-3, 3, 999), torch.tensor([0.0, 1.9999, -0.9999, 0.001])])
    weights = weights[(weights == 0) | (weights.abs() > 2**-14)]
    found = rounded(weights, kept)
    assert found.dtype == torch.float16
    assert ((found.float() - weights).abs() <= error * weights.abs()).all(), "to the nearest, across powers of two too"
    assert torch.equal(rounded(found, kept), found)
    assert len(found.float().frexp().mantissa.abs().unique()) <= 2**kept + 1


def test_its_mlps_are_as_wide_as_asked(llama: Path, tmp_path: Path) -> None:
    job = job_of(llama, tmp_path, steps=4, intermediate=24, fraction_bits=4)
    train_drafter(job, quiet)
    tensors = load_file(job.out / "model.safetensors")
    assert tensors["layers.0.mlp.up_proj.weight"].shape[0] == 24
    assert torch.equal(rounded(tensors["fc.weight"], 4), tensors["fc.weight"])


def test_a_layer_that_is_not_there_is_refused_before_any_work(llama: Path, tmp_path: Path) -> None:
    job = job_of(llama, tmp_path)
    beyond = replace(job, corpus=job.corpus.replace(layers=(0, 3)))
    with pytest.raises(UsageError, match="there is no layer 3; the verifier has 0 to 2"):
        train_drafter(beyond, quiet)
    assert not job.work.exists()
