"""Models that mlx-lm quantised are verified over their own numbers, and one that is run otherwise is found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ModelError
from harness.checks import verify_model as verify_module
from harness.checks.verify_model import verify
from harness.models.faithfulness import fixed_text
from tests.harness.folders_4bit import CONFIGS, edit_config, quantise, write_published

pytestmark = pytest.mark.torch
TEXT = fixed_text()[:150]
Change = Callable[[Any], None]


@pytest.fixture(autouse=True)
def _short_text(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More tokens than a window has, and no more."""
    monkeypatch.setattr(verify_module, "fixed_text", lambda: TEXT)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("published")
    return {kind: write_published(top / kind, kind) for kind in CONFIGS}


@pytest.fixture(scope="module")
def quantised(published: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("quantised")
    return {kind: quantise(folder, top / kind) for kind, folder in published.items()}


@pytest.mark.parametrize("kind", CONFIGS)
def test_mlx_lm_and_transformers_agree_on_every_token(kind: str, quantised: dict[str, Path]) -> None:
    result = verify(quantised[kind])
    assert result.tokens > 2 * CONFIGS[kind].get("sliding_window", 32)
    assert result.argmax_agreement == 1.0
    assert result.largest_logit_gap < 2e-3
    assert result.reference.endswith("float32, weights dequantised")
    assert result.as_run is not None
    assert (result.as_run.dtype, result.as_run.tokens) == ("bfloat16", verify_module.RUN_TOKENS)


@pytest.mark.parametrize("kind", ["qwen3_moe", "gemma4_moe"])
def test_experts_as_published_are_read_too(kind: str, published: dict[str, Path]) -> None:
    result = verify(published[kind])
    assert (result.argmax_agreement, result.as_run) == (1.0, None)
    assert result.largest_logit_gap < 2e-3
    assert result.reference.endswith("float32")


@pytest.mark.parametrize(
    "settings",
    [
        {"q_bits": 3},
        {"q_bits": 8, "q_group_size": 64},
        {"q_mode": "mxfp4"},
        {"q_mode": "nvfp4", "q_group_size": 16},
        {"quant_predicate": lambda path, module: {"bits": 6, "group_size": 64} if "v_proj" in path else True},
    ],
    ids=["3-bit", "8-bit", "mxfp4", "nvfp4", "mixed"],
)
def test_every_packing_is_understood_from_its_shapes(
    settings: dict[str, Any], published: dict[str, Path], tmp_path: Path
) -> None:
    result = verify(quantise(published["llama"], tmp_path / "packed", **settings))
    assert result.argmax_agreement == 1.0
    assert result.largest_logit_gap < 2e-3


def scale_of_a_projection(model: Any) -> None:
    projection = model.model.layers[1].mlp.down_proj
    projection.scales = projection.scales * 2


def experts_swapped(model: Any) -> None:
    experts = model.language_model.model.layers[1].experts.switch_glu.up_proj
    for name in ("weight", "scales", "biases"):
        experts[name] = experts[name][[1, 0, 2, 3]]


def gates_for_ups(model: Any) -> None:
    experts = model.model.layers[0].mlp.switch_mlp
    experts.gate_proj, experts.up_proj = experts.up_proj, experts.gate_proj


@pytest.mark.parametrize(
    ("kind", "change"),
    [("llama", scale_of_a_projection), ("gemma4_moe", experts_swapped), ("qwen3_moe", gates_for_ups)],
)
def test_an_engine_that_runs_other_numbers_than_the_folder_has_is_found(
    kind: str, change: Change, quantised: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import harness.engines.mlx.verifier.load as load_module

    load = load_module.load_verifier

    def misloaded(folder: Path) -> Any:
        verifier = load(folder)
        change(verifier.model)
        return verifier

    monkeypatch.setattr(load_module, "load_verifier", misloaded)
    result = verify(quantised[kind])
    assert result.argmax_agreement < 0.99
    assert result.largest_logit_gap > 1.0


def test_a_rope_base_that_mlx_lm_reads_and_transformers_does_not_is_found(
    published: dict[str, Path], tmp_path: Path
) -> None:
    folder = quantise(published["llama"], tmp_path / "packed")
    edit_config(folder, rope_theta=10.0, rope_parameters={"rope_theta": 100_000.0, "rope_type": "default"})
    assert verify(folder).argmax_agreement < 0.99


def test_tensors_that_do_not_fit_are_named_in_one_line(published: dict[str, Path], tmp_path: Path) -> None:
    folder = quantise(published["qwen3"], tmp_path / "packed")
    edit_config(folder, model_type="llama")
    import mlx.core as mx

    weights = mx.load(str(folder / "model.safetensors"))
    renamed = {name.replace("gate_proj", "w1").replace("_norm", "_norm_"): value for name, value in weights.items()}
    mx.save_safetensors(str(folder / "model.safetensors"), renamed, {"format": "pt"})
    with pytest.raises(ModelError) as caught:
        verify_module.reference_logits(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert "model.layers.0.mlp.gate_proj.weight" in message
    assert "model.layers.0.mlp.w1.weight" in message
