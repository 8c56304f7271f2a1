"""Recall on trained models: what restored, dropped and exact K/V are worth once sliding layers have wrapped."""

from functools import cache

import pytest

from harness.checks.mlx.stream_audit import audit
from harness.engines.base import DecodeLimit
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, RestorationSpec
from harness.models.model_text import ModelText
from harness.models.resolve import resolve
from workloads.base import Prompt
from workloads.niah import Niah

TOKENS = 14
# Both prompts are longer than the model's window, 64 and 512 tokens, so that sliding layers have wrapped.
LINES = {"k3-tiny": 40, "gemma3-270m": 50}
MODELS = ["k3-tiny", pytest.param("gemma3-270m", marks=pytest.mark.gemma)]


@cache
def verifier(model: str) -> Verifier:
    return load_verifier(resolve(model).folder)


@cache
def prompt(model: str) -> Prompt:
    text = ModelText(verifier(model).tokenizer)
    niah = Niah(lines=LINES[model], samples=1, seed=0, sink=4, window=64, style=text.style("auto"))
    return next(made for made in niah.prompts(text) if made.prompt_set == "main")


@cache
def stream(model: str, name: str, request: RestorationSpec) -> tuple[int, ...]:
    engine = build(name, verifier(model), EngineSettings(prefill_chunk=256, restoration=request))
    session = engine.prefill(prompt(model).tokens)
    blocks = engine.decode(session, DecodeLimit(TOKENS, {}))
    return (session.first_token, *(token for block in blocks for token in block.tokens))


def oracle(model: str) -> tuple[int, ...]:
    return stream(model, "ar", RestorationSpec())


def recalls(model: str, tokens: tuple[int, ...]) -> bool:
    answer = prompt(model).answer
    assert answer is not None
    return answer in ModelText(verifier(model).tokenizer).decode(tokens)


@pytest.mark.parametrize("model", MODELS)
def test_the_oracle_recalls_and_every_token_is_the_verifier_s(model: str) -> None:
    assert recalls(model, oracle(model))
    assert audit(verifier(model), prompt(model).tokens, oracle(model)).mismatches == ()


@pytest.mark.parametrize("eviction", ["strict", "after"])
@pytest.mark.parametrize("model", MODELS)
def test_identity_is_the_oracle_s_stream(model: str, eviction: str) -> None:
    request = RestorationSpec(restoration="identity", eviction=eviction)  # type: ignore[arg-type]
    assert stream(model, "incremental", request) == oracle(model)


@pytest.mark.parametrize("model", MODELS)
def test_without_restoration_the_code_is_gone(model: str) -> None:
    assert not recalls(model, stream(model, "incremental", RestorationSpec(restoration="ablate")))


@pytest.mark.gemma
def test_gemma_s_full_layers_alone_carry_the_recall() -> None:
    assert len(prompt("gemma3-270m").tokens) > 512
    coupon = RestorationSpec(restoration="ablate", exact_layers="full_attention")
    sliding = RestorationSpec(restoration="ablate", exact_layers="sliding_attention")
    assert recalls("gemma3-270m", stream("gemma3-270m", "incremental", coupon))
    assert not recalls("gemma3-270m", stream("gemma3-270m", "incremental", sliding))
