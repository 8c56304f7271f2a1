"""Continuations and hidden states of a padded batch are those of every prompt alone."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from harness.base.errors import ModelError
from harness.training.drafter.verifier import TorchVerifier
from harness.training.verifier_shape import shape_of
from tests.harness.training.tiny_folders import gemma_folder, llama_folder

pytestmark = pytest.mark.torch

PROMPTS = [[5, 9, 200, 31], list(range(40, 75)), [7]]


@pytest.mark.parametrize(("make", "layers"), [(llama_folder, (0, 2)), (gemma_folder, (1, 3))])
def test_a_batch_is_what_each_prompt_is_alone(
    make: Callable[[Path], Path], layers: tuple[int, ...], tmp_path: Path
) -> None:
    folder = make(tmp_path / "model")
    verifier = TorchVerifier(folder, torch.float32, torch.device("cpu"))
    plain = AutoModelForCausalLM.from_pretrained(folder).eval()
    for prompt, got in zip(PROMPTS, verifier.continued(PROMPTS, 24, layers), strict=True):
        assert got.tokens[: got.prompt].tolist() == prompt
        assert len(got.tokens) == len(prompt) + 24
        with torch.no_grad():
            output = plain(got.tokens[None, :-1], output_hidden_states=True)
        assert torch.equal(output.logits[0].argmax(-1), got.choices)
        assert torch.equal(got.tokens[got.prompt :], got.choices[got.prompt - 1 :])
        early = output.hidden_states[layers[0] + 1][0]
        torch.testing.assert_close(got.features[:, :32].float(), early, rtol=0.01, atol=0.02)
        # transformers norms the last one; a tap sits before the norm.
        last = verifier.normed(got.features[:, 32:].float())
        torch.testing.assert_close(last, output.hidden_states[-1][0], rtol=0.03, atol=0.03)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ModelError, match="no weights"):
        TorchVerifier(tmp_path, torch.float32, torch.device("cpu"))
    with pytest.raises(ModelError, match="no weights"):
        shape_of(tmp_path)


def test_a_shape_names_a_token_to_spare(tmp_path: Path) -> None:
    shape = shape_of(llama_folder(tmp_path / "model"))
    assert shape.layers == 3
    assert shape.spare_token() == 1
