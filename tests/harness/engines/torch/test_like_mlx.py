"""Both backends on k3-tiny: every engine emits the same tokens, and counts the same positions and K/V bytes."""

from functools import cache

import pytest

from harness.engines.base import DecodeLimit
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from harness.runs.loaded.loading import load_models, load_torch_models
from tests.harness.torch_models import decoded
from workloads.code import Code

pytestmark = pytest.mark.torch
DFLASH = DrafterSpec(kind="dflash", model="k3-tiny-dflash", dtype="float32")
F_THETA = RestorationSpec(restoration="f_theta", f_theta="k3-tiny-ftheta")
CASES = {
    "oracle": ("ar", EngineSettings()),
    "identity": ("incremental", EngineSettings(restoration=RestorationSpec(restoration="identity"))),
    "ablate": ("incremental", EngineSettings(restoration=RestorationSpec(restoration="ablate"))),
    "f_theta": ("incremental", EngineSettings(restoration=F_THETA)),
    "f_theta resident": (
        "incremental",
        EngineSettings(restoration=F_THETA.replace(residency="resident", eviction="after")),
    ),
    "ngram": ("fused", EngineSettings(drafter=DrafterSpec(kind="ngram"))),
    "dflash": ("fused", EngineSettings(drafter=DFLASH)),
    "combined": ("fused", EngineSettings(drafter=DFLASH.replace(kind="combined"))),
    "sure": ("fused", EngineSettings(drafter=DFLASH.replace(sure=0.2))),
    "model": ("fused", EngineSettings(drafter=DrafterSpec(kind="model", model="k3-tiny"))),
    "f_theta in blocks": ("fused", EngineSettings(restoration=F_THETA, drafter=DFLASH)),
}


@cache
def both():  # type: ignore[no-untyped-def]
    """The model on MLX and on PyTorch."""
    return load_models("k3-tiny"), load_torch_models("k3-tiny")


def test_both_make_the_same_prompts_and_stop_at_the_same_tokens() -> None:
    ours, theirs = (loaded.text for loaded in both())
    text = Code(items=8, samples=1, seed=1).prompts(ours)[0].tokens
    assert text == Code(items=8, samples=1, seed=1).prompts(theirs)[0].tokens
    assert ours.end_tokens() == theirs.end_tokens()


@pytest.mark.parametrize("case", CASES)
def test_every_engine_says_the_same(case: str) -> None:
    mlx, torch = both()
    name, settings = CASES[case]
    prompt = Code(items=8, samples=1, seed=1).prompts(mlx.text)[0].tokens[:220]
    engines = [build(name, loaded.verifier, settings) for loaded in (mlx, torch)]
    (ours, blocks), (theirs, their_blocks) = (decoded(engine, prompt, 24) for engine in engines)
    assert theirs == ours
    assert [block.drafted for block in their_blocks] == [block.drafted for block in blocks]
    assert engines[1].restoration == engines[0].restoration


STOPS = [("at the limit", None), ("at a stop token, with a step in flight on MLX", 9)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stopped", [place for _, place in STOPS], ids=[name for name, _ in STOPS])
def test_both_count_the_same_positions_after_prefill_and_after_decoding(case: str, stopped: int | None) -> None:
    mlx, torch = both()
    name, settings = CASES[case]
    prompt = Code(items=8, samples=1, seed=1).prompts(mlx.text)[0].tokens[:220]
    stream, _ = decoded(build("ar", mlx.verifier, EngineSettings()), prompt, 24)
    stops = {} if stopped is None else {stream[stopped]: "eos"}
    found = []
    for loaded in (mlx, torch):
        engine = build(name, loaded.verifier, settings)
        session = engine.prefill(prompt)
        counts = [engine.stats(session)]
        told = [token for block in engine.decode(session, DecodeLimit(24, stops)) for token in block.tokens]
        counts.append(engine.stats(session))
        found.append((told, [(one.evicted_positions, one.restored_positions) for one in counts]))
    assert found[0] == found[1]


def test_what_was_loaded_is_held_to_its_reference() -> None:
    checked = both()[1].models[0].faithfulness
    assert checked is not None
    assert checked.argmax_agreement == 1.0
    assert checked.largest_logit_gap < 1e-2
