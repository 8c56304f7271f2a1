"""The fused engine over a bounded cache is the incremental engine with the same restoration, in fewer forwards."""

from collections.abc import Sequence
from functools import cache

import mlx.core as mx
import numpy as np
import pytest

from harness.base.errors import EngineError, UsageError
from harness.checks.lossless_run import fork
from harness.checks.mlx.matrix import MATRIX
from harness.engines.base import Block, DecodeLimit, Engine, SessionStats
from harness.engines.bounded.cache_formula import cache_table
from harness.engines.bounded.f_theta import GROWTH
from harness.engines.drafters.base import Drafter
from harness.engines.drafters.replay import ReplayDraft, ReplayDrafter, spoils
from harness.engines.mlx.bounded.bound import bound
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.verifier.hidden_states import LayerOutputs
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from harness.fetching.fetch import ensure
from harness.models.model_text import ModelText
from reports.scoring.answers import score
from tests.harness.tiny_models import tiny_llama
from workloads.base import Prompt
from workloads.niah import Niah

F_THETA = "k3-tiny-ftheta"
TOKENS = 40
BOUNDS = {"sink": 4, "window": 64}
REQUESTS = {
    "transient": RestorationSpec(restoration="f_theta", f_theta=F_THETA, residency="transient", **BOUNDS),
    "resident": RestorationSpec(restoration="f_theta", f_theta=F_THETA, residency="resident", **BOUNDS),
    "exact": RestorationSpec(restoration="f_theta", exact_layers=(1,), f_theta=F_THETA, **BOUNDS),
    "identity": RestorationSpec(restoration="identity", **BOUNDS),
    "ablate": RestorationSpec(restoration="ablate", **BOUNDS),
    "after": RestorationSpec(restoration="f_theta", f_theta=F_THETA, eviction="after", **BOUNDS),
}
DFLASH, NGRAM = DrafterSpec(kind="dflash", model="k3-tiny-dflash"), DrafterSpec(kind="ngram")


@cache
def tiny() -> Verifier:
    return load_verifier(ensure("k3-tiny").folder)


@cache
def needles() -> tuple[Prompt, ...]:
    text = ModelText(tiny().tokenizer)
    made = Niah(lines=38, samples=3, seed=5, sink=4, window=64, style=text.style("auto")).prompts(text)
    return tuple(prompt for prompt in made if prompt.prompt_set == "main")


def settings_of(name: str, drafter: DrafterSpec | None = None, size: int = 8) -> EngineSettings:
    sized = None if drafter is None else drafter.replace(block_size=size)
    return EngineSettings(restoration=REQUESTS[name], drafter=sized)


def decode(engine: Engine, tokens: Sequence[int], limit: DecodeLimit) -> tuple[list[int], list[Block], SessionStats]:
    session = engine.prefill(tokens)
    blocks = list(engine.decode(session, limit))
    return [session.first_token, *(t for block in blocks for t in block.tokens)], blocks, engine.stats(session)


@cache
def stepwise(name: str) -> tuple[tuple[int, ...], SessionStats]:
    """The incremental arm's stream after a prompt of some 250 tokens, and what it counted."""
    stream, _, stats = decode(build("incremental", tiny(), settings_of(name)), prompt(), DecodeLimit(TOKENS, {}))
    return tuple(stream), stats


def prompt() -> list[int]:
    return list(needles()[0].tokens[-250:])


TRAINED_SIZE = 8
"""Of the DFlash drafter's blocks."""
SIZES = {"right": (1, 4, 16), "wrong": (1, 4, 16), "random": (2, 4, 16), "ngram": (4,), "dflash": (2, TRAINED_SIZE)}
CELLS = [
    *((name, drafts, size) for name in ("transient", "resident") for drafts, sizes in SIZES.items() for size in sizes),
    *((name, *each) for name in REQUESTS for each in (("random", 4), ("wrong", 16))),
]


@pytest.mark.parametrize(("name", "drafts", "size"), dict.fromkeys(CELLS))
def test_the_stream_is_that_of_the_incremental_arm(name: str, drafts: str, size: int) -> None:
    expected, counted = stepwise(name)
    drafter: Drafter | None = None
    if drafts not in ("ngram", "dflash"):
        drafter = ReplayDrafter([*prompt(), *expected], spoils(tiny().architecture.vocab, seed=size)[drafts])
    engine = FusedEngine(tiny(), settings_of(name, DFLASH if drafts == "dflash" else NGRAM, size), drafter)
    stream, blocks, stats = decode(engine, prompt(), DecodeLimit(TOKENS, {}))
    assert tuple(stream) == expected
    if drafts == "right":
        assert len(blocks) == -(-(TOKENS - 1) // size)
    if drafts == "wrong":
        assert all(block.accepted == 0 and len(block.tokens) == 1 for block in blocks)
    bounded_layers = 1 if name == "exact" else 2
    assert stats.evicted_positions == counted.evicted_positions + bounded_layers  # what leaves before the next token
    assert 0 <= stats.restored_positions - counted.restored_positions <= bounded_layers


@pytest.mark.parametrize("name", REQUESTS)
def test_bytes_before_and_after_decoding_are_those_of_the_bounds(name: str) -> None:
    engine = build("fused", tiny(), settings_of(name, DFLASH))
    before = engine.stats(engine.prefill(prompt()))
    formula = cache_table("sut", tiny().architecture.cache_layers, engine.restoration, len(prompt())).total_bytes
    assert before.kv_bytes - before.drafter_bytes == formula
    _, _, stats = decode(engine, prompt(), DecodeLimit(TOKENS, {}))
    read = len(prompt()) + TOKENS - 1
    table = cache_table("sut", tiny().architecture.cache_layers, engine.restoration, read)
    a_position = max(layer.bytes_per_token for layer in table.layers)
    growing = sum(layer.resident_positions == read for layer in table.layers)
    spare = GROWTH * (engine.restoration.feature_bytes or 0) + growing * 264 * a_position
    assert 0 <= stats.kv_bytes - stats.drafter_bytes - table.total_bytes <= spare
    assert stats.drafter_bytes > 0
    if name in ("transient", "ablate"):
        assert growing == 0
        a_block = TRAINED_SIZE * (engine.restoration.feature_bytes or 0)  # may have grown the features' room earlier
        assert stats.kv_bytes - stats.drafter_bytes <= stepwise(name)[1].kv_bytes + a_block


class Watching(ReplayDrafter):
    """Replays, and keeps the features it is given, of two layers."""

    layers = (0, 2)

    def __init__(self, whole: Sequence[int], vocab: int) -> None:
        super().__init__(whole, spoils(vocab, seed=1)["random"])
        self.seen: list[mx.array] = []

    def begin(self) -> ReplayDraft:
        draft = super().begin()
        extend = draft.extend

        def kept(tokens: Sequence[int], features: mx.array | None) -> None:
            assert features is not None
            assert features.shape[1] == len(tokens)
            self.seen.append(features)
            extend(tokens, features)

        draft.extend = kept  # type: ignore[method-assign]
        return draft


@pytest.mark.parametrize("name", ["transient", "ablate"])
def test_a_drafter_s_features_come_from_the_forward_that_verifies(name: str) -> None:
    expected, _ = stepwise(name)
    drafter = Watching([*prompt(), *expected], tiny().architecture.vocab)
    decode(FusedEngine(tiny(), settings_of(name, NGRAM, 4), drafter), prompt(), DecodeLimit(TOKENS, {}))
    bounded = bound(tiny(), settings_of(name))
    assert bounded is not None
    cache_, rows, outputs = bounded.begin(), [], LayerOutputs(tiny().model, Watching.layers)
    for token in [*prompt(), *expected[:-1]]:
        with outputs.capture() as captured:
            bounded.read(mx.array([[token]]), cache_)
            rows.append(captured.features())
    np.testing.assert_allclose(
        np.array(mx.concatenate(drafter.seen, axis=1)), np.array(mx.concatenate(rows, axis=1)), atol=2e-3, rtol=0
    )


@pytest.mark.parametrize(("name", "recalled"), [("transient", 3), ("resident", 3), ("identity", 3), ("ablate", 0)])
def test_the_needle_is_recalled_by_what_is_restored(name: str, recalled: int) -> None:
    text, engine = ModelText(tiny().tokenizer), build("fused", tiny(), settings_of(name, DFLASH))
    limit = DecodeLimit(16, {})
    answers = [(text.answer_text(decode(engine, one.tokens, limit)[0]), one.answer) for one in needles()]
    assert sum(score(answer, code) for answer, code in answers if code is not None) == recalled


@pytest.mark.parametrize("kind", ["combined", "model", "single"])
def test_every_kind_of_drafter_drafts_for_it(kind: str) -> None:
    drafters = {
        "combined": DrafterSpec(kind="combined", model="k3-tiny-dflash"),
        "model": DrafterSpec(kind="model", model="k3-tiny"),
        "single": DrafterSpec(kind="dflash", model="k3-tiny-dflash", graph="single"),
    }
    engine = build("fused", tiny(), settings_of("transient", drafters[kind]))
    assert tuple(decode(engine, prompt(), DecodeLimit(TOKENS, {}))[0]) == stepwise("transient")[0]


def test_a_stop_token_inside_a_block_ends_what_is_kept() -> None:
    expected, _ = stepwise("transient")
    stop = next(token for token in expected[5:] if token not in expected[:5])
    whole = [*prompt(), *expected]
    engine = FusedEngine(tiny(), settings_of("transient", NGRAM, 16), ReplayDrafter(whole, spoils(9)["right"]))
    session = engine.prefill(prompt())
    blocks = list(engine.decode(session, DecodeLimit(TOKENS, {stop: "eos"})))
    emitted = [session.first_token, *(t for block in blocks for t in block.tokens)]
    assert emitted == list(expected[: expected.index(stop) + 1])
    left = len(prompt()) + len(emitted) - 1 - sum(BOUNDS.values())
    assert engine.stats(session).evicted_positions == 2 * left


def test_it_says_what_it_restores_and_how_it_rolls_back() -> None:
    engine = build("fused", tiny(), settings_of("exact", NGRAM))
    assert engine.restoration == build("incremental", tiny(), settings_of("exact")).restoration
    assert engine.drafter is not None
    assert engine.drafter.rollback == "settle"


def test_a_block_longer_than_what_its_layers_can_restore_is_refused() -> None:
    narrow = RestorationSpec(restoration="f_theta", f_theta=F_THETA, sink=4, window=6)
    with pytest.raises(EngineError, match="window of 6 before") as caught:
        build("fused", tiny(), EngineSettings(restoration=narrow, drafter=DrafterSpec(kind="ngram", block_size=8)))
    assert "\n" not in str(caught.value)
    build("fused", tiny(), EngineSettings(restoration=narrow, drafter=DrafterSpec(kind="ngram", block_size=6)))


def test_bounds_that_mean_nothing_are_refused_as_in_the_incremental_engine() -> None:
    request = RestorationSpec(restoration="identity", exact_layers=(9,))
    with pytest.raises(UsageError, match="no layer 9"):
        build("fused", tiny_llama(), EngineSettings(restoration=request, drafter=NGRAM))


def test_a_bounded_session_cannot_be_copied() -> None:
    engine = build("fused", tiny(), settings_of("ablate", NGRAM))
    with pytest.raises(EngineError, match="bounded cache cannot be copied"):
        fork(engine.prefill(prompt()), ReplayDrafter([], spoils(9)["right"]), prompt(), MATRIX)  # type: ignore[arg-type]
