"""Needles in real prose: where they lie, what is asked, and what counts as an answer."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tokenizers_for_tests import model_text
from workloads.base import Prompt, PromptStyle
from workloads.needles import FORMS, draw
from workloads.niah_prose import Asked, ProseNiah

CHAT, PLAIN = model_text(), model_text(chat=False)


def haystacks(
    samples: int = 4,
    needles: int = 1,
    asked: Asked = "one",
    seed: int = 1,
    style: PromptStyle = "chat",
    words: int = 200,
    window: int = 64,
) -> list[Prompt]:
    workload = ProseNiah(words, samples, seed, 4, window, style, needles, asked)
    return list(workload.prompts(CHAT if style == "chat" else PLAIN))


def text_of(prompt: Prompt, first: int = 0, last: int | None = None) -> str:
    return str(PLAIN.decode(prompt.tokens[first:last]))


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    needles=st.integers(1, 4),
    asked=st.sampled_from(["one", "all"]),
    style=st.sampled_from(["chat", "completion"]),
    window=st.integers(1, 120),
)
def test_what_is_asked_for_is_outside_sink_and_window(
    seed: int, needles: int, asked: Asked, style: PromptStyle, window: int
) -> None:
    main, free = haystacks(1, needles, asked, seed, style, window=window)
    assert main.needle_first is not None
    assert main.needle_last is not None
    assert main.question_first is not None
    assert 4 <= main.needle_first <= main.needle_last < main.question_first - window
    inside = text_of(main, main.needle_first, main.needle_last + 1)
    outside = text_of(main, 0, main.needle_first) + text_of(main, main.needle_last + 1)
    for answer in (str(main.answer), *main.also_asked):
        assert answer in inside
        assert answer not in outside
        assert answer not in text_of(free)
    assert len(main.also_asked) == (needles - 1 if asked == "all" else 0)
    assert len(main.not_asked) == (needles - 1 if asked == "one" else 0)
    assert all(other in text_of(main) and other in text_of(free) for other in main.not_asked)


def test_a_twin_asks_the_same_of_the_same_text_without_the_needles() -> None:
    made = haystacks(4, needles=3, asked="all")
    for main, free in zip(made[::2], made[1::2], strict=True):
        assert (main.prompt_set, free.prompt_set) == ("main", "needle_free")
        assert (main.sample, main.answer, main.group) == (free.sample, free.answer, free.group)
        gone = set(text_of(main).split("\n\n")) - set(text_of(free).split("\n\n"))
        assert len(gone) == 3
        assert set(text_of(free).split("\n\n")) < set(text_of(main).split("\n\n"))
        assert free.needle_first is None


def test_forms_and_documents_take_turns() -> None:
    main = haystacks(8)[::2]
    assert [one.question for one in main] == [f"needle/{form}" for form in FORMS] * 2
    assert len({one.group for one in main}) == 8


def test_the_same_seed_gives_the_same_prompts_and_another_gives_others() -> None:
    assert haystacks() == haystacks()
    assert {one.digest for one in haystacks()}.isdisjoint(one.digest for one in haystacks(seed=2))
    assert haystacks(2) == haystacks(4)[:4]


def test_sizes_that_no_module_or_window_allows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"workload\.words: no module has 9999 words"):
        haystacks(words=9999)
    with pytest.raises(ValueError, match=r"workload\.words: 200 words leave no place"):
        haystacks(window=4000)


def test_all_answers_are_wanted_and_no_other() -> None:
    every, one = haystacks(1, 3, "all")[0], haystacks(1, 3, "one")[0]
    whole = "\n".join([str(every.answer), *every.also_asked])
    assert every.scored(whole) is True
    assert every.scored(str(every.answer)) is False
    assert one.scored(str(one.answer)) is True
    assert one.scored(f"{one.answer} or {one.not_asked[0]}") is False


@given(st.sampled_from(list(FORMS)), st.integers(1, 8), st.integers())
def test_needles_of_one_haystack_can_be_told_apart(form: str, count: int, seed: int) -> None:
    text = "A text that tells of Lisbon."
    found = draw(form, count, text, random.Random(seed))
    assert len({needle.cue for needle in found}) == len({needle.answer for needle in found}) == count
    for needle in found:
        assert needle.answer in needle.sentence
        assert needle.answer not in needle.cue + needle.question + text
