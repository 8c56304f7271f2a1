"""The peer on PyTorch: transformers' own blocks, of the oracle's stream, over a prompt that is read once."""

import pytest

from harness.base.errors import EngineError
from harness.engines.base import DecodeLimit
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from tests.harness.torch_models import decoded, torch_gemma, torch_llama

pytestmark = pytest.mark.torch
REPEATING = [5, 9, 17, 33, 2, 44, 61] * 8
NGRAM = EngineSettings(prefill_chunk=16, drafter=DrafterSpec(kind="ngram", block_size=4))


@pytest.mark.parametrize("model", [torch_llama, torch_gemma])
def test_its_stream_is_the_oracle_s_and_its_blocks_add_up(model) -> None:  # type: ignore[no-untyped-def]
    wanted, _ = decoded(build("ar", model(), EngineSettings(prefill_chunk=16)), REPEATING, 40)
    found, blocks = decoded(build("transformers-assisted", model(), NGRAM), REPEATING, 40)
    assert found == wanted
    assert any(block.drafted for block in blocks)
    for block in blocks:
        assert 0 <= block.accepted <= block.drafted <= 3
        assert len(block.tokens) == block.accepted + 1
    assert "prepare_inputs_for_generation" not in vars(model().model)


def test_a_stop_token_ends_it() -> None:
    whole, _ = decoded(build("ar", torch_llama(), EngineSettings()), REPEATING, 40)
    stop = next(token for token in whole[3:] if token not in whole[:3])
    engine = build("transformers-assisted", torch_llama(), NGRAM)
    session = engine.prefill(REPEATING)
    blocks = engine.decode(session, DecodeLimit(40, {stop: "eos"}))
    assert [whole[0], *(token for block in blocks for token in block.tokens)] == whole[: whole.index(stop) + 1]


@pytest.mark.parametrize(
    ("drafter", "reason"),
    [
        (DrafterSpec(kind="dflash", model="k3-tiny-dflash"), "set drafter.kind to ngram or model"),
        (DrafterSpec(kind="ngram", shuffle_seed=1), "set drafter.kind to ngram or model"),
        (DrafterSpec(kind="ngram", block_size=1), "no room for a draft"),
    ],
)
def test_what_it_cannot_draft_with_is_refused(drafter: DrafterSpec, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        build("transformers-assisted", torch_llama(), EngineSettings(drafter=drafter))
