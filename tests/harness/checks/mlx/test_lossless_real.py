"""Block engines on trained models, past their windows of 64 and 512 tokens."""

from functools import cache

import pytest

from harness.checks.losslessness import compare_streams
from harness.checks.mlx.stream_audit import audit
from harness.engines.base import DecodeLimit
from harness.engines.drafters.replay import ReplayDrafter, spoils
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.engines.fused_carry import FusedCarryEngine
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from harness.models.model_text import ModelText
from harness.models.resolve import resolve
from workloads.code import Code

TIE = 1e-3
TOKENS = 24
LENGTHS = {"k3-tiny": 200, "gemma3-270m": 560}


@cache
def verifier(model: str) -> Verifier:
    return load_verifier(resolve(model).folder)


@cache
def prompt(model: str) -> tuple[int, ...]:
    made = Code(items=40, samples=2, seed=3).prompts(ModelText(verifier(model).tokenizer))
    return (made[0].tokens + made[1].tokens)[: LENGTHS[model]]


@cache
def oracle(model: str) -> list[int]:
    engine = build("ar", verifier(model), EngineSettings())
    session = engine.prefill(prompt(model))
    return [session.first_token, *(block.tokens[0] for block in engine.decode(session, DecodeLimit(TOKENS, {})))]


@pytest.mark.parametrize("spoilt", ["all-but-the-last", "random"])
@pytest.mark.parametrize("engine_class", [FusedEngine, FusedCarryEngine])
@pytest.mark.parametrize("model", ["k3-tiny", pytest.param("gemma3-270m", marks=pytest.mark.gemma)])
def test_no_stream_diverges(model: str, engine_class: type[FusedEngine], spoilt: str) -> None:
    known, loaded = oracle(model), verifier(model)
    drafter = ReplayDrafter([*prompt(model), *known], spoils(loaded.architecture.vocab, seed=1)[spoilt])
    engine = engine_class(loaded, EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=4)), drafter)
    session = engine.prefill(prompt(model))
    blocks = list(engine.decode(session, DecodeLimit(TOKENS, {})))
    stream = [session.first_token, *(token for block in blocks for token in block.tokens)]
    audits = [audit(loaded, prompt(model), tokens) for tokens in (known, stream)]
    assert compare_streams(known, stream, audits, TIE).outcome != "divergent"
    assert 0 < sum(block.accepted for block in blocks) < sum(block.drafted for block in blocks)
