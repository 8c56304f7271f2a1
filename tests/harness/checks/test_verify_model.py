import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import ModelError
from harness.checks import verify_model as verify_module
from harness.checks.verify_model import compare_logits, main, verify
from harness.models.faithfulness import load_faithfulness
from harness.models.folder.identity import identity_of
from harness.models.resolve import resolve

Make = Callable[..., Any]


def rewrite(folder: Path, **changes: object) -> None:
    """Change config.json; None removes a key."""
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


@pytest.fixture
def folder(cache: Path, tiny_llama: Make, converted: Make) -> Path:
    made: Path = converted(tiny_llama())
    return made


@pytest.mark.torch
def test_a_converted_model_agrees_and_the_result_is_stored(folder: Path) -> None:
    assert load_faithfulness(identity_of(folder)) is None
    result = verify(folder)
    assert result.argmax_agreement == 1.0
    assert result.largest_logit_gap < 1e-3
    assert result.tokens > 600
    assert result.reference.startswith("transformers ")
    assert load_faithfulness(identity_of(folder)) == result


@pytest.mark.torch
def test_a_changed_config_has_not_been_verified(folder: Path) -> None:
    verify(folder)
    rewrite(folder, rope_theta=10_000.0)
    assert load_faithfulness(identity_of(folder)) is None


@pytest.mark.torch
def test_a_changed_tokenizer_has_not_been_verified_and_verifying_it_replaces_nothing(folder: Path) -> None:
    """What once passed for verified on the record of another folder, and then put its own record in its place."""
    result, identity = verify(folder), identity_of(folder)
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    tokenizer["model"]["merges"].pop()
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert identity_of(other).weights == identity.weights
    assert load_faithfulness(identity_of(other)) is None
    assert verify(other).tokens > result.tokens
    assert load_faithfulness(identity) == result


@pytest.mark.torch
def test_a_comparison_over_next_to_nothing_is_refused_and_not_kept(folder: Path) -> None:
    config = json.loads((folder / "tokenizer.json").read_text())
    config["normalizer"] = {"type": "Replace", "pattern": {"Regex": "(.|\\n){1,90}"}, "content": "x"}
    (folder / "tokenizer.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="makes 29 tokens of a page of text"):
        verify(folder)
    assert load_faithfulness(identity_of(folder)) is None


@pytest.mark.torch
def test_gemma_agrees_past_its_window(cache: Path, tiny_gemma: Make, converted: Make) -> None:
    result = verify(converted(tiny_gemma()))
    assert result.tokens > 8
    assert result.argmax_agreement >= 0.99


@pytest.mark.torch
def test_a_wrong_rope_base_is_caught(folder: Path) -> None:
    """What mlx-lm does with a base it does not see: it runs with 10000, and transformers with what was meant."""
    rewrite(folder, rope_theta=10_000.0, rope_parameters={"rope_theta": 100_000.0, "rope_type": "default"})
    result = verify(folder)
    assert result.argmax_agreement < 0.9
    assert result.largest_logit_gap > 0.1


@pytest.mark.torch
def test_mlx_lm_alone_misreads_a_config_with_rope_parameters_only(folder: Path) -> None:
    """Why the conversion writes the top-level key, and why K3's loader completes a config without it."""
    rewrite(folder, rope_theta=None)
    import mlx.core as mx
    from mlx_lm import load

    model, tokenizer = load(str(folder))
    ids = tokenizer.encode(verify_module.fixed_text())
    misread = np.array(model(mx.array([ids]))[0])
    _, reference, name = verify_module.reference_logits(folder)
    assert compare_logits(misread, reference, name).argmax_agreement < 0.9
    assert verify(folder).argmax_agreement == 1.0


def test_logits_that_are_not_finite_are_refused() -> None:
    logits = np.zeros((2, 3), np.float32)
    broken = logits.copy()
    broken[1, 2] = np.nan
    with pytest.raises(ModelError, match="not finite"):
        compare_logits(broken, logits, "reference")


def test_figures_are_those_of_the_arrays() -> None:
    ours = np.array([[0, 1, 0], [3, 2, 9]], np.float32)
    theirs = np.array([[0, 1], [2, 2.5]], np.float32)
    result = compare_logits(ours, theirs, "reference")
    assert (result.tokens, result.argmax_agreement, result.largest_logit_gap) == (2, 0.5, 1.0)


def test_without_torch_the_error_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "torch_available", lambda: False)
    with pytest.raises(ModelError, match=r"pip install '\.\[torch\]'"):
        verify(folder)


def test_a_folder_transformers_cannot_open_has_no_reference(folder: Path) -> None:
    rewrite(folder, num_hidden_layers="two")
    with pytest.raises(ModelError) as caught:
        verify(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.torch
def test_the_process_of_its_own_reports_by_exit_code(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder)]) == 0
    assert main([str(tmp_path / "nowhere")]) == 3
    assert "no such model folder" in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "agreement", "gap"),
    [
        pytest.param("smollm2-135m", 1.0, 1e-3, marks=pytest.mark.model),
        pytest.param("gemma3-270m", 0.995, 1.0, marks=pytest.mark.gemma),
    ],
)
def test_the_real_models_are_those_transformers_runs(name: str, agreement: float, gap: float) -> None:
    result = verify(resolve(name).folder)
    assert result.tokens > 512
    assert result.argmax_agreement >= agreement
    assert result.largest_logit_gap <= gap
