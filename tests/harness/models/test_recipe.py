"""What shipped weights were trained on is in their manifests, true to the generators, and read with suspicion."""

import json
from pathlib import Path
from typing import Any

import pytest
from mlx_lm.utils import load_tokenizer

from harness.base.errors import ModelError
from harness.models.f_theta_folder import FThetaManifest
from harness.models.info import model_info
from harness.models.model_text import ModelText
from harness.models.recipe import recipe_of
from harness.models.resolve import locate, resolve
from reports.records.recipe import Recipe
from workloads.code import TEMPLATES, group_of
from workloads.niah import GROUP

SHIPPED = ("k3-tiny-dflash", "k3-tiny-ftheta", "smollm2-135m-dflash", "smollm2-135m-ftheta")
SYNTHETIC = {GROUP, *map(group_of, TEMPLATES)}
WEIGHTS = f"sha256:{'1' * 64}"
RECIPE: dict[str, Any] = {"generator": "somebody", "groups": ["own/a.txt"]}


def text_of(model: str) -> ModelText:
    try:
        return ModelText(load_tokenizer(locate(model).folder))
    except ModelError:
        pytest.skip(f"{model} is not on this machine")


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_says_what_it_was_trained_on(name: str) -> None:
    model = resolve(name)
    found = model_info(model, "f_theta" if name.endswith("ftheta") else "drafter").recipe
    assert found is not None
    assert found == recipe_of(model.folder, model.weights)
    assert list(found.groups) == sorted(found.groups)
    assert GROUP in found.groups
    assert set(found.groups) <= SYNTHETIC
    assert found.unknown == ()


def test_the_verifier_that_ships_says_it_too() -> None:
    found = model_info(resolve("k3-tiny"), "verifier").recipe
    assert found is not None
    assert set(found.groups) == {*SYNTHETIC, "synthetic/facts"}
    manifest = json.loads((locate("k3-tiny").folder / "manifest.json").read_bytes())
    assert found.prompts == (manifest["corpus"],)


@pytest.mark.torch
@pytest.mark.parametrize("name", [name for name in SHIPPED if name.endswith("dflash")])
def test_the_prompts_of_a_shipped_drafter_are_made_again(name: str) -> None:
    from harness.training.corpus import Corpus
    from harness.training.drafter.recipe import DrafterManifest

    manifest = DrafterManifest.model_validate_json((locate(name).folder / "manifest.json").read_bytes())
    stages = [manifest] if manifest.before is None else [manifest.before, manifest]
    text = text_of(manifest.verifier)
    made = [Corpus(stage.corpus_recipe, text).recipe(stage.training.shards) for stage in stages]
    assert manifest.recipe == (made[0] if len(made) == 1 else made[1].after(made[0]))


@pytest.mark.parametrize(("name", "lines"), [("k3-tiny-ftheta", 36), ("smollm2-135m-ftheta", 70)])
def test_the_text_of_a_shipped_f_theta_is_made_again(name: str, lines: int) -> None:
    """The digest of the corpus stood in the manifest before there were recipes."""
    from harness.training.corpus import recipe_from
    from harness.training.f_theta.corpus import GENERATOR, FThetaTexts
    from harness.training.f_theta.tuning import TUNED_FROM

    manifest = FThetaManifest.model_validate_json((locate(name).folder / "manifest.json").read_bytes())
    text, corpus = text_of(manifest.verifier), manifest.corpus
    texts = FThetaTexts(corpus.seed, lines, text.style("auto"), text)
    made = recipe_from(GENERATOR, corpus.seed, None, map(texts.text, range(corpus.texts)))
    assert made.prompts == (corpus.digest,)
    tuned = manifest.fine_tuning
    if tuned is not None:
        read = range(TUNED_FROM, TUNED_FROM + tuned.steps * tuned.sequences)
        made = recipe_from(GENERATOR, corpus.seed, None, map(texts.text, read)).after(made)
    assert manifest.recipe == made


def put(folder: Path, manifest: Any) -> Path:
    data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    (folder / "manifest.json").write_bytes(data)
    return folder


@pytest.mark.parametrize("manifest", [None, b"no JSON", [], {"weights": WEIGHTS}, {"recipe": None}])
def test_a_manifest_without_a_recipe_says_nothing(tmp_path: Path, manifest: Any) -> None:
    assert recipe_of(tmp_path if manifest is None else put(tmp_path, manifest), WEIGHTS) is None


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"weights": f"sha256:{'2' * 64}", "recipe": RECIPE}, "recipe: of weights that are not those beside it"),
        ({"weights": WEIGHTS, "recipe": {"groups": []}}, "recipe: generator: is missing"),
        ({"weights": WEIGHTS, "recipe": RECIPE | {"groups": "all"}}, "recipe: groups: "),
        ({"weights": WEIGHTS, "recipe": RECIPE | {"more": 1}}, "recipe: more: "),
        ({"weights": WEIGHTS, "recipe": RECIPE | {"prompts": ["x"]}}, "recipe: prompts.0: "),
        (b" " * (1024**2 + 1), "over 1 MB"),
    ],
)
def test_a_recipe_that_is_none_is_refused_in_one_line(tmp_path: Path, manifest: Any, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        recipe_of(put(tmp_path, manifest), WEIGHTS)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_that_went_on_from_others_know_what_those_read() -> None:
    first = Recipe(generator="g", groups=("own/a", "own/c"), seeds=(1,), texts=(WEIGHTS,))
    second = Recipe(generator="g", groups=("own/b", "own/c"), seeds=(2,), texts=(WEIGHTS,))
    assert second.after(first) == Recipe(
        generator="g", groups=("own/a", "own/b", "own/c"), seeds=(1, 2), texts=(WEIGHTS,)
    )
    assert second.after(None).unknown == ("what the weights that it goes on from were trained on",)
    assert second.after(None).after(first).unknown
