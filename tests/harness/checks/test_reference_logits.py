"""The recorded reference: a machine without torch tells a faithful model from a misread one."""

import numpy as np
import pytest

from harness.base.errors import ModelError
from harness.checks import verify_model as verify_module
from harness.checks.reference_logits import compare_recorded, record, recorded_reference
from harness.checks.verify_model import verify
from harness.models.faithfulness import text_digest
from harness.models.registry import registry
from harness.models.resolve import resolve

WEIGHTS = "sha256:" + "1" * 64


def logits(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(7, 50)).astype(np.float32)


def test_a_recording_agrees_with_what_it_was_made_from_and_not_with_another() -> None:
    recording = record(WEIGHTS, text_digest(), "a reference", list(range(7)), logits(0))
    same = compare_recorded(list(range(7)), logits(0), recording)
    assert same.argmax_agreement == 1.0
    assert same.largest_logit_gap < 1e-4
    other = compare_recorded(list(range(7)), logits(1), recording)
    assert other.argmax_agreement < 0.5
    assert other.largest_logit_gap > 1.0


def test_another_tokenisation_is_refused() -> None:
    recording = record(WEIGHTS, text_digest(), "a reference", list(range(7)), logits(0))
    with pytest.raises(ModelError, match="tokenizer"):
        compare_recorded([*range(6), 9], logits(0), recording)


def test_no_recording_for_other_weights() -> None:
    assert recorded_reference(WEIGHTS, text_digest()) is None


@pytest.mark.parametrize(
    "name",
    [
        "k3-tiny",
        # Where there is no PyTorch, fetching the model has verified it so.
        pytest.param("smollm2-135m", marks=[pytest.mark.model, pytest.mark.torch]),
        pytest.param("gemma3-270m", marks=pytest.mark.gemma),
    ],
)
def test_known_models_are_verified_without_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert name in registry().models
    monkeypatch.setattr(verify_module, "torch_available", lambda: False)
    result = verify(resolve(name).folder)
    assert "recorded" in result.reference
    assert result.argmax_agreement >= 0.995
    assert result.largest_logit_gap < 0.5
