"""The audit finds an altered token where it stands, and nothing on a true stream."""

import mlx.core as mx
import numpy as np
import pytest

from harness.base.errors import EngineError
from harness.checks.mlx.stream_audit import audit
from harness.engines.base import DecodeLimit
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import EngineSettings
from tests.harness.tiny_models import VOCAB, prompt_of, tiny_gemma, tiny_llama


def stream(verifier: Verifier, prompt: list[int], length: int) -> list[int]:
    engine = build("ar", verifier, EngineSettings())
    session = engine.prefill(prompt)
    return [
        session.first_token,
        *(t for block in engine.decode(session, DecodeLimit(length, {})) for t in block.tokens),
    ]


@pytest.mark.parametrize("family", [tiny_llama, tiny_gemma])
@pytest.mark.parametrize("length", [1, 31, 32, 33, 70])
def test_a_true_stream_is_clean(family, length: int) -> None:  # type: ignore[no-untyped-def]
    prompt = prompt_of(50)
    found = audit(family(), prompt, stream(family(), prompt, length), sample=3, repeat=2)
    assert (found.sample, found.repeat, found.tokens_checked, found.mismatches) == (3, 2, length, ())


@pytest.mark.parametrize("position", [0, 1, 20, 39])
def test_an_altered_token_is_found_with_its_gap(position: int) -> None:
    prompt = prompt_of(50)
    tokens = stream(tiny_llama(), prompt, 40)
    true, tokens[position] = tokens[position], (tokens[position] + 1) % VOCAB
    first = audit(tiny_llama(), prompt, tokens).mismatches[0]
    whole = np.array(tiny_llama().model(mx.array([prompt + tokens]))[0])
    row = whole[len(prompt) + position - 1]
    assert (first.position, first.emitted, first.argmax) == (position, tokens[position], true)
    assert first.gap == pytest.approx(row[true] - row[tokens[position]], abs=1e-4)
    assert first.gap > 0


def test_an_empty_stream_has_nothing_to_check() -> None:
    assert audit(tiny_llama(), prompt_of(5), []).tokens_checked == 0


def test_what_cannot_be_audited_is_refused() -> None:
    with pytest.raises(EngineError, match="empty"):
        audit(tiny_llama(), [], [1])
    with pytest.raises(EngineError, match="token id 97"):
        audit(tiny_llama(), [1], [VOCAB])
