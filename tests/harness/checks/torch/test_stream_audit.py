"""The audit on PyTorch finds exactly the tokens that are not the verifier's choice."""

import pytest

from harness.base.errors import EngineError
from harness.checks.torch.stream_audit import audit
from harness.engines.registry import build
from harness.engines.spec import EngineSettings
from tests.harness.tiny_models import prompt_of
from tests.harness.torch_models import VOCAB, decoded, torch_gemma

pytestmark = pytest.mark.torch


def test_the_oracle_s_own_stream_has_no_mismatch() -> None:
    stream, _ = decoded(build("ar", torch_gemma(), EngineSettings(prefill_chunk=16)), prompt_of(45), 40)
    found = audit(torch_gemma(), prompt_of(45), stream, sample=3, repeat=1)
    assert (found.sample, found.repeat, found.tokens_checked, found.mismatches) == (3, 1, 40, ())


def test_a_token_that_was_put_in_is_found_with_its_gap() -> None:
    stream, _ = decoded(build("ar", torch_gemma(), EngineSettings(prefill_chunk=16)), prompt_of(45), 40)
    wrong = [*stream[:35], (stream[35] + 1) % VOCAB]
    (mismatch,) = audit(torch_gemma(), prompt_of(45), wrong).mismatches
    assert (mismatch.position, mismatch.emitted, mismatch.argmax) == (35, wrong[35], stream[35])
    assert mismatch.gap > 0


def test_what_cannot_be_audited_is_refused() -> None:
    with pytest.raises(EngineError, match="the prompt is empty"):
        audit(torch_gemma(), [], [1])
    with pytest.raises(EngineError, match=f"token id {VOCAB} is none of the verifier's {VOCAB}"):
        audit(torch_gemma(), [1], [VOCAB])
