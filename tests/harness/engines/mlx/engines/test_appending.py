"""Sessions that go on: whatever was appended and generated in turn, the tokens are those of one append."""

import random
from collections.abc import Iterator

import pytest

from harness.base.errors import EngineError
from harness.engines.base import AppendingEngine, DecodeLimit, Session
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from tests.harness.tiny_models import prompt_of, tiny_gemma, tiny_llama

NGRAM = DrafterSpec(kind="ngram", block_size=4)
BOUNDED = {"sink": 2, "window": 5}
CASES: dict[str, tuple[str, EngineSettings]] = {
    "ar": ("ar", EngineSettings(prefill_chunk=7)),
    "native-baseline": ("native-baseline", EngineSettings(prefill_chunk=7)),
    "incremental": ("incremental", EngineSettings(prefill_chunk=7)),
    "fused": ("fused", EngineSettings(prefill_chunk=7, drafter=NGRAM)),
    "fused-carry": ("fused-carry", EngineSettings(prefill_chunk=7, drafter=NGRAM)),
} | {
    f"{engine}-{mode}": (
        engine,
        EngineSettings(
            prefill_chunk=7,
            restoration=RestorationSpec(restoration=mode, **BOUNDED),
            drafter=NGRAM if engine == "fused" else None,
        ),
    )
    for engine in ("incremental", "fused")
    for mode in ("identity", "ablate")
}


class Talk:
    """A history built up in turns, as whoever serves a session builds it."""

    def __init__(self, engine: AppendingEngine) -> None:
        self.engine, self.history = engine, list[int]()
        self.session: Session | None = None

    def read(self) -> Session:
        if self.session is None:
            self.session = self.engine.prefill(self.history)
        else:
            self.engine.append(self.session, self.history[self.engine.held(self.session).positions :])
        assert self.engine.held(self.session).positions == len(self.history)
        return self.session

    def append(self, tokens: list[int]) -> None:
        self.history += tokens
        self.read()

    def generate(self, count: int, stop: int | None = None, leave_after: int | None = None) -> list[int]:
        session = self.read()
        emitted = [session.first_token]
        limit = DecodeLimit(count, {} if stop is None else {stop: "eos"})
        blocks = self.engine.decode(session, limit)
        assert isinstance(blocks, Iterator)
        for number, block in enumerate(blocks):
            emitted += block.tokens
            if number == leave_after:
                blocks.close()  # type: ignore[attr-defined]
                break
        self.history += emitted
        return emitted


@pytest.fixture(params=["llama", "gemma"])
def verifier(request: pytest.FixtureRequest) -> Verifier:
    return tiny_llama() if request.param == "llama" else tiny_gemma()


def build_case(case: str, verifier: Verifier) -> AppendingEngine:
    name, settings = CASES[case]
    engine = build(name, verifier, settings)
    assert isinstance(engine, AppendingEngine)
    return engine


@pytest.mark.parametrize("case", CASES)
def test_turns_give_the_tokens_of_one_append(case: str, verifier: Verifier) -> None:
    engine = build_case(case, verifier)
    for seed in range(2):
        chance = random.Random(seed)
        talk = Talk(engine)
        for _ in range(chance.randint(2, 5)):
            talk.append(prompt_of(chance.randint(1, 25)))
            match chance.randint(0, 3):
                case 0:
                    talk.generate(chance.randint(1, 12))
                case 1:
                    whole = Talk(engine)
                    whole.append(list(talk.history))
                    stop = whole.generate(8)[chance.randint(0, 7)]
                    assert talk.generate(8, stop=stop)[-1] == stop
                case 2:
                    talk.generate(9, leave_after=chance.randint(0, 4))
        once = Talk(engine)
        once.append(list(talk.history))
        assert talk.generate(10) == once.generate(10), (case, seed)


@pytest.mark.parametrize("case", CASES)
def test_generation_goes_on_where_it_stopped(case: str, verifier: Verifier) -> None:
    engine = build_case(case, verifier)
    whole, parts = Talk(engine), Talk(engine)
    for talk in (whole, parts):
        talk.append(prompt_of(30))
    wanted = whole.generate(20)
    stop = wanted[5]
    emitted = parts.generate(20, stop=stop)
    while len(emitted) < 20:
        emitted += parts.generate(min(3, 20 - len(emitted)))
    assert emitted == wanted


def test_what_is_dropped_is_counted_by_the_cache(verifier: Verifier) -> None:
    for case, dropped in {"ar": 0, "incremental-identity": 23, "fused-ablate": 23}.items():
        engine = build_case(case, verifier)
        held = engine.held(engine.prefill(prompt_of(30)))
        assert (held.positions, held.dropped) == (30, dropped)


def test_eviction_after_the_prompt_takes_one_prompt() -> None:
    after = RestorationSpec(restoration="ablate", eviction="after", **BOUNDED)
    engine = build("incremental", tiny_llama(), EngineSettings(restoration=after))
    assert isinstance(engine, AppendingEngine)
    session = engine.prefill(prompt_of(20))
    with pytest.raises(EngineError, match="strict"):
        engine.append(session, [1])
