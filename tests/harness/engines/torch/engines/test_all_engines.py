"""What every engine promises, on PyTorch: transformers' own stream, whatever is done to the cache."""

from collections.abc import Callable

import pytest
import torch

from harness.base.errors import EngineError, UsageError
from harness.engines.acceptance import leading_matches
from harness.engines.base import AppendingEngine, DecodeLimit
from harness.engines.drafters.replay import ReplayDrafter, spoils
from harness.engines.registry import build, engine_class
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from harness.engines.torch.verifier.load import Verifier
from reports.engines import ENGINES, TORCH
from tests.harness.tiny_models import prompt_of
from tests.harness.torch_models import VOCAB, decoded, torch_gemma, torch_llama, torch_qwen3

pytestmark = pytest.mark.torch
MODELS = [torch_llama, torch_gemma, torch_qwen3]
IDENTITY = RestorationSpec(restoration="identity", sink=2, window=5)
AFTER = RestorationSpec(restoration="identity", sink=2, window=5, eviction="after")
LENGTH = 40


def generated(verifier: Verifier, prompt: list[int], length: int = LENGTH) -> list[int]:
    """What transformers' `generate` makes of the prompt."""
    read = torch.tensor([prompt])
    stream = verifier.model.generate(read, max_new_tokens=length, do_sample=False, use_cache=True)
    return [int(token) for token in stream[0, len(prompt) :]]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("name", "restoration"),
    [
        ("ar", RestorationSpec()),
        ("native-baseline", RestorationSpec()),
        ("incremental", RestorationSpec()),
        ("incremental", IDENTITY),
        ("incremental", AFTER),
    ],
)
def test_the_stream_is_that_of_generate(model: Callable[[], Verifier], name: str, restoration: RestorationSpec) -> None:
    engine = build(name, model(), EngineSettings(prefill_chunk=16, restoration=restoration))
    assert decoded(engine, prompt_of(45), LENGTH)[0] == generated(model(), prompt_of(45))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("spoilt", list(spoils(1)))
@pytest.mark.parametrize("name", ["fused", "fused-carry", "fused-identity"])
def test_blocks_lose_nothing_whatever_is_drafted(model: Callable[[], Verifier], spoilt: str, name: str) -> None:
    verifier, prompt = model(), prompt_of(45)
    stream = generated(verifier, prompt)
    restoration = IDENTITY if name == "fused-identity" else RestorationSpec()
    settings = EngineSettings(
        prefill_chunk=16, restoration=restoration, drafter=DrafterSpec(kind="ngram", block_size=4)
    )
    drafter = ReplayDrafter([*prompt, *stream], spoils(VOCAB, seed=1)[spoilt])
    engine = engine_class(name.removesuffix("-identity"), TORCH)(verifier, settings, drafter)
    found, blocks = decoded(engine, prompt, LENGTH)
    assert found == stream
    accepted, drafted = sum(block.accepted for block in blocks), sum(block.drafted for block in blocks)
    assert (accepted == drafted) is (spoilt == "right")
    assert (accepted == 0) is (spoilt == "wrong")


def test_ablation_evicts_and_changes_the_stream() -> None:
    settings = EngineSettings(prefill_chunk=16, restoration=RestorationSpec(restoration="ablate", sink=2, window=5))
    engine = build("incremental", torch_llama(), settings)
    session = engine.prefill(prompt_of(45))
    counted = engine.stats(session)
    assert (counted.evicted_positions, counted.restored_positions) == (4 * (45 - 2 - 5), 0)
    assert counted.kv_bytes == 4 * (2 + 5) * 2 * 2 * 8 * 4  # layers, positions, K and V, heads, size, bytes
    assert leading_matches(decoded(engine, prompt_of(45), LENGTH)[0], generated(torch_llama(), prompt_of(45))) < LENGTH


@pytest.mark.parametrize(
    "name", [name for name, kind in ENGINES.items() if TORCH in kind.backends and not kind.foreign]
)
def test_a_session_goes_on_as_though_all_had_been_read_at_once(name: str) -> None:
    drafter = DrafterSpec(kind="ngram", block_size=4) if ENGINES[name].drafts else None
    engine = build(name, torch_gemma(), EngineSettings(prefill_chunk=16, drafter=drafter))
    assert isinstance(engine, AppendingEngine)
    prompt = prompt_of(45)
    session = engine.prefill(prompt)
    said = [token for block in engine.decode(session, DecodeLimit(9, {})) for token in block.tokens]
    history = [*prompt, session.first_token, *said, *prompt_of(7, seed=3)]
    engine.append(session, history[engine.held(session).positions :])
    rest = [token for block in engine.decode(session, DecodeLimit(12, {})) for token in block.tokens]
    assert [session.first_token, *rest] == generated(torch_gemma(), history, 12)


@pytest.mark.parametrize("name", ["ar", "incremental"])
def test_stops_and_limits_are_those_of_every_engine(name: str) -> None:
    engine, whole = build(name, torch_llama(), EngineSettings()), generated(torch_llama(), prompt_of(45))
    stop = next(token for token in whole[3:] if token not in whole[:3])
    session = engine.prefill(prompt_of(45))
    emitted = [token for block in engine.decode(session, DecodeLimit(LENGTH, {stop: "eos"})) for token in block.tokens]
    assert [whole[0], *emitted] == whole[: whole.index(stop) + 1]
    with pytest.raises(UsageError, match="max_new_tokens"):
        list(engine.decode(session, DecodeLimit(0, {})))
    with pytest.raises(EngineError, match="the prompt is empty"):
        engine.prefill([])
