"""What every engine promises, whatever it does to the cache: one matrix over all of them."""

from importlib import import_module

import mlx.core as mx
import pytest

from harness.base.errors import EngineError, UsageError
from harness.engines.base import DecodeLimit, Engine
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, RestorationSpec
from reports.engines import ENGINES
from tests.harness.tiny_models import prompt_of, tiny_gemma, tiny_llama

generate_step = import_module("mlx_lm.generate").generate_step
STEPPING = [name for name, kind in ENGINES.items() if not kind.drafts and not kind.foreign]
CASES = [
    *((name, RestorationSpec()) for name in STEPPING),
    ("incremental", RestorationSpec(restoration="identity", sink=2, window=5)),
    ("incremental", RestorationSpec(restoration="identity", sink=2, window=5, eviction="after")),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1].restoration}-{case[1].eviction}")
def engine(request: pytest.FixtureRequest) -> Engine:
    name, restoration = request.param
    return build(name, tiny_gemma(), EngineSettings(prefill_chunk=16, restoration=restoration))


def upstream(length: int) -> list[int]:
    steps = generate_step(mx.array(prompt_of(45)), tiny_gemma().model, max_tokens=length)
    return [int(token) for token, _ in steps]


def decode(engine: Engine, limit: DecodeLimit) -> list[int]:
    session = engine.prefill(prompt_of(45))
    return [session.first_token, *(token for block in engine.decode(session, limit) for token in block.tokens)]


def test_the_stream_is_mlx_lm_s_own(engine: Engine) -> None:
    assert decode(engine, DecodeLimit(40, {})) == upstream(40)


@pytest.mark.parametrize("length", [1, 2, 3, 17])
def test_the_first_token_counts_towards_the_limit(engine: Engine, length: int) -> None:
    assert len(decode(engine, DecodeLimit(length, {}))) == length


def test_a_stop_token_is_emitted_and_ends_the_stream(engine: Engine) -> None:
    whole = upstream(40)
    stop = next(token for token in whole[3:] if token not in whole[:3])
    assert decode(engine, DecodeLimit(40, {stop: "eos"})) == whole[: whole.index(stop) + 1]


def test_a_first_token_that_stops_leaves_nothing_to_decode(engine: Engine) -> None:
    assert decode(engine, DecodeLimit(40, {upstream(1)[0]: "eos"})) == upstream(1)


def test_a_limit_without_room_for_the_first_token_is_refused(engine: Engine) -> None:
    with pytest.raises(UsageError, match="max_new_tokens"):
        decode(engine, DecodeLimit(0, {}))


def test_blocks_are_single_tokens_with_nothing_drafted(engine: Engine) -> None:
    blocks = list(engine.decode(engine.prefill(prompt_of(45)), DecodeLimit(9, {})))
    assert all(len(block.tokens) == 1 and block.drafted == 0 and block.draft_s == 0.0 for block in blocks)


def test_bytes_are_counted_after_prefill_and_after_decode(engine: Engine) -> None:
    session = engine.prefill(prompt_of(250))  # room in a cache is made for 256 positions at a time
    before = engine.stats(session).kv_bytes
    list(engine.decode(session, DecodeLimit(10, {})))
    assert 0 < before < engine.stats(session).kv_bytes


def test_it_drafts_nothing_and_restores_what_it_was_asked_to(engine: Engine) -> None:
    assert engine.drafter is None
    assert engine.restoration.mode in ("none", "identity")


def test_a_session_of_another_engine_is_refused(engine: Engine) -> None:
    class Foreign:
        first_token = 1

    with pytest.raises(EngineError, match="another engine"):
        list(engine.decode(Foreign(), DecodeLimit(3, {})))
    with pytest.raises(EngineError, match="another engine"):
        engine.stats(Foreign())


def test_an_empty_prompt_is_refused(engine: Engine) -> None:
    with pytest.raises(EngineError, match="empty"):
        engine.prefill([])


@pytest.mark.parametrize("name", [name for name in STEPPING if not ENGINES[name].bounds])
def test_a_native_engine_restores_nothing(name: str) -> None:
    with pytest.raises(UsageError, match="restores nothing"):
        build(name, tiny_llama(), EngineSettings(restoration=RestorationSpec(restoration="identity")))
