import json
from pathlib import Path

import pytest

from gate.judging.judge import judge
from gate.rulebook.report_view import ReportView
from gate.rules.memory.known_cache import known_cache
from harness.base.errors import ModelError
from harness.models.f_theta_folder import read_manifest
from harness.models.info import model_info
from harness.models.recipe import recipe_of
from harness.models.registry import registry
from harness.models.resolve import resolve
from reports.known_models import KNOWN_CACHES, KNOWN_FEATURES, KNOWN_MODELS, KNOWN_RECIPES, KNOWN_WEIGHTS
from reports.report import load_report
from tests.gate.asking import ask
from tests.gate.edits import set_verifier
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))
DIGESTS = {name: digest for digest, name in KNOWN_WEIGHTS.items()}


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_known_weights_go_by_their_name(name):
    report = set_verifier(NIAH, weights=DIGESTS[name])
    (finding,) = ask("MODEL_MISNAMED", set_verifier(report, id="llama-70b"))
    assert (finding.found, finding.allowed) == ("llama-70b", name)
    assert not ask("MODEL_MISNAMED", set_verifier(report, id=name))


def test_weights_that_nobody_knows_have_any_name():
    assert not ask("MODEL_MISNAMED", set_verifier(NIAH, id="llama-70b"))


def test_a_committed_report_under_another_name_is_not_admitted():
    report = set_verifier(load_report(Path("reports/evidence/demo-smollm2.json")), id="llama-70b")
    judged = judge(report)
    assert "MODEL_MISNAMED" in {violation.code for violation in judged.violations}
    assert judged.headlines == ()


def test_the_registry_agrees():
    stated = {
        model.source.weights: name for name, model in registry().models.items() if hasattr(model.source, "weights")
    }
    assert stated
    assert stated.items() <= KNOWN_WEIGHTS.items()
    assert set(KNOWN_WEIGHTS.values()) <= set(registry().models)


def test_recipes_are_those_of_the_manifests():
    models = Path("harness/models")
    for folder in (models / "tiny" / "drafter", models / "tiny" / "f_theta", *(models / "weights").iterdir()):
        weights = json.loads((folder / "manifest.json").read_text())["weights"]
        recipe = recipe_of(folder, weights)
        assert KNOWN_RECIPES.get(KNOWN_WEIGHTS[weights]) == (recipe.digest if recipe is not None else None), folder


def test_features_are_as_wide_as_the_manifests_say():
    for name, folder in (("k3-tiny-ftheta", "tiny/f_theta"), ("smollm2-135m-ftheta", "weights/smollm2-135m-ftheta")):
        assert read_manifest(Path("harness/models") / folder).feature_bytes == KNOWN_FEATURES[name]


@pytest.mark.parametrize("name", ["demo", "niah-gemma3-270m", "ftheta-smollm2"])
def test_the_caches_that_k3_knows_are_those_that_it_measured(name):
    report = load_report(Path(f"reports/evidence/{name}.json"))
    known, oracle = known_cache(ReportView(report)), ReportView(report).oracle
    assert known is not None
    for row in oracle.measurements:
        least, most = known.bounds(row.prompt_tokens)
        assert least < row.kv_bytes_prefill <= most < 1.5 * row.kv_bytes_prefill
    assert set(KNOWN_CACHES) <= set(KNOWN_WEIGHTS.values())


@pytest.mark.parametrize("name", sorted(KNOWN_MODELS))
def test_what_k3_knows_of_a_model_is_what_its_folder_says(name: str) -> None:
    try:
        resolved = resolve(name)
    except ModelError:
        pytest.skip(f"{name} is not on this machine")
    role = "verifier" if KNOWN_MODELS[name].reads is None else "f_theta" if "ftheta" in name else "drafter"
    found, known = model_info(resolved, role), KNOWN_MODELS[name]
    assert (found.architecture, found.layer_types or (), found.dtype) == (
        known.architecture,
        known.layer_types,
        known.dtype,
    )
    if known.config is not None:
        assert (found.config, found.tokenizer) == (known.config, known.tokenizer)
    assert set(KNOWN_MODELS) == set(KNOWN_WEIGHTS.values())
