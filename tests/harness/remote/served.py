"""k3-tiny behind the session service, an engine each, and the histories that clients build up."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from harness.engines.base import AppendingEngine, Block
from harness.engines.registry import build
from harness.engines.remote.description import describe_engine
from harness.engines.remote.records import Done, Frame, Sampling
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from harness.remote.limits import Limits
from harness.remote.service import Served, SessionService
from harness.runs.loaded.loading import load_models
from harness.runs.loaded.mlx_models import LoadedMlxModels

BOUNDED = RestorationSpec(restoration="ablate", sink=4, window=64)
NGRAM = DrafterSpec(kind="ngram", block_size=4)
ENGINES: dict[str, tuple[str, EngineSettings]] = {
    "ar": ("ar", EngineSettings()),
    "incremental": ("incremental", EngineSettings(restoration=BOUNDED)),
    "fused": ("fused", EngineSettings(drafter=NGRAM)),
    "fused-bounded": ("fused", EngineSettings(drafter=NGRAM, restoration=BOUNDED)),
}
GREEDY = Sampling()


@cache
def models() -> LoadedMlxModels:
    return load_models("k3-tiny")


@cache
def served(case: str) -> Served:
    name, settings = ENGINES[case]
    loaded = models()
    engine = build(name, loaded.verifier, settings)
    assert isinstance(engine, AppendingEngine)
    vocabulary = loaded.verifier.architecture.vocab
    return Served(engine, describe_engine(engine, loaded.models, loaded.device, vocabulary))


@contextmanager
def running(case: str | None, limits: Limits | None = None) -> Iterator[SessionService]:
    """A service that ends with the context; None: one without a generator."""
    service = SessionService(None if case is None else served(case), limits or Limits())
    try:
        yield service
    finally:
        service.stop()


def tokens_of(frames: Sequence[Frame]) -> list[int]:
    return [token for frame in frames if isinstance(frame, Block) for token in frame.tokens]


def generate(service: SessionService, name: str, count: int) -> list[int]:
    frames = list(service.generate(name, count, GREEDY))
    assert isinstance(frames[-1], Done)
    return tokens_of(frames)


def append(service: SessionService, name: str, tokens: Sequence[int]) -> int:
    (done,) = service.append(name, tokens)
    return done.history_length


def history_of(chance: random.Random, length: int) -> list[int]:
    """Tokens of k3-tiny that no random text would have next to each other, and some that repeat."""
    words = [chance.randrange(3, 1024) for _ in range(max(2, length // 3))]
    return [chance.choice(words) for _ in range(length)]
