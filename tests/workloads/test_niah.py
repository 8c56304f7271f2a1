"""The haystack: what is asked, where the needle lies, and what counts as an answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.scoring.answers import score
from tests.tokenizers_for_tests import model_text
from workloads.base import Prompt, PromptStyle
from workloads.niah import Niah


def haystack(seed: int = 1, lines: int = 30, style: PromptStyle = "chat", sink: int = 4, window: int = 64) -> Niah:
    return Niah(lines=lines, samples=3, seed=seed, sink=sink, window=window, style=style)


def text_of(prompt: Prompt) -> str:
    return str(model_text()._tokenizer.decode(list(prompt.tokens)))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    lines=st.integers(15, 60),
    sink=st.integers(0, 40),
    window=st.integers(1, 120),
    style=st.sampled_from(["chat", "completion"]),
)
def test_the_needle_is_outside_sink_and_window(
    seed: int, lines: int, sink: int, window: int, style: PromptStyle
) -> None:
    text = model_text(chat=style == "chat")
    for prompt in haystack(seed, lines, style, sink, window).prompts(text):
        if prompt.prompt_set == "needle_free":
            assert prompt.needle_first is None
            assert prompt.answer not in text_of(prompt)
            continue
        assert prompt.needle_first is not None
        assert prompt.needle_last is not None
        assert prompt.question_first is not None
        assert sink <= prompt.needle_first <= prompt.needle_last < prompt.question_first - window
        inside = text.decode(prompt.tokens[prompt.needle_first : prompt.needle_last + 1])
        outside = text.decode(prompt.tokens[: prompt.needle_first] + prompt.tokens[prompt.needle_last + 1 :])
        assert str(prompt.answer) in inside
        assert str(prompt.answer) not in outside


def test_a_twin_differs_in_the_needle_line_alone() -> None:
    prompts = haystack().prompts(model_text())
    by_set = {(p.prompt_set, p.sample): text_of(p).splitlines() for p in prompts}
    for sample in range(3):
        main, free = by_set["main", sample], by_set["needle_free", sample]
        assert len(main) == len(free)
        different = [line for line, other in zip(main, free, strict=True) if line != other]
        assert len(different) == 1
        assert "secret code is" in different[0]


def test_the_same_seed_gives_the_same_prompts_and_another_gives_others() -> None:
    first, again, other = (haystack(seed).prompts(model_text()) for seed in (1, 1, 2))
    assert first == again
    assert [prompt.digest for prompt in first] != [prompt.digest for prompt in other]


def test_more_samples_keep_the_first_ones() -> None:
    few = haystack().prompts(model_text())
    many = Niah(lines=30, samples=5, seed=1, sink=4, window=64, style="chat").prompts(model_text())
    assert many[: len(few)] == few


def test_a_haystack_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match=r"workload\.lines"):
        haystack(lines=5, window=4000).prompts(model_text())


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("BETA-1409", True),
        (" BETA-1409.", True),
        ("The code is beta-1409", True),
        ("BETA-14", False),
        ("BETA-14099", False),
        ("", False),
        ("BETA-1409\n" * 10, False),
    ],
)
def test_scoring(text: str, right: bool) -> None:
    assert score(text, "BETA-1409") is right


def test_an_empty_answer_is_never_right() -> None:
    assert score("anything", "") is False
