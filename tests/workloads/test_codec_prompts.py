"""Prompts of a codec run: two questions about one haystack, and a text that is none of it."""

import pytest

from tests.tokenizers_for_tests import model_text
from workloads.base import Prompt, PromptStyle
from workloads.codec_prompts import (
    CONTEXT_TOKENS,
    SCORED_TOKENS,
    SECOND_QUESTIONS,
    CodecPrompts,
    SecondForm,
    shared_prefix,
)


def prompts(
    seed: int = 3, style: PromptStyle = "chat", second: SecondForm = "reworded"
) -> dict[tuple[str, int], Prompt]:
    """Three samples, by set."""
    made = CodecPrompts(20, 3, seed, style, second).prompts(model_text(chat=style == "chat"))
    return {(prompt.prompt_set, prompt.sample): prompt for prompt in made}


@pytest.mark.parametrize("second_form", SECOND_QUESTIONS)
@pytest.mark.parametrize("style", ["chat", "completion"])
def test_both_questions_follow_one_haystack(style: PromptStyle, second_form: SecondForm) -> None:
    made, text = prompts(style=style, second=second_form), model_text(chat=style == "chat")
    for sample in range(3):
        main, second = made["main", sample], made["second_question", sample]
        shared = shared_prefix(main, second)
        assert main.answer == second.answer
        assert main.answer in text.decode(main.tokens[:shared])
        assert main.tokens[:shared] == second.tokens[:shared]
        assert main.tokens[shared:] != second.tokens[shared:]
        assert shared < min(len(main.tokens), len(second.tokens))
        assert main.answer not in text.decode(second.tokens[shared:])


def test_held_out_texts_are_of_one_length_and_each_samples_own() -> None:
    made = [prompts()["held_out", sample] for sample in range(3)]
    assert {len(prompt.tokens) for prompt in made} == {CONTEXT_TOKENS + SCORED_TOKENS}
    assert {prompt.question_first for prompt in made} == {CONTEXT_TOKENS}
    assert len({prompt.digest for prompt in made}) == 3
    assert all(prompt.answer is None for prompt in made)


@pytest.mark.parametrize("seed", [3, 42])
def test_samples_beyond_the_paragraphs_have_held_out_texts_of_their_own(seed: int) -> None:
    """Of short tokens a text is the beginning of one of twelve paragraphs: 20 samples of `kvquant-tiny` shared some."""
    made = CodecPrompts(20, 24, seed, "chat").prompts(model_text())
    held_out = {prompt.digest for prompt in made if prompt.prompt_set == "held_out"}
    assert len(held_out) == 24
    fewer = CodecPrompts(20, 9, seed, "chat").prompts(model_text())
    assert made[: len(fewer)] == fewer


def test_more_samples_than_held_out_texts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no more than [0-9]+ held-out texts"):
        CodecPrompts(20, 400, 3, "chat").prompts(model_text())


def test_the_same_seed_gives_the_same_prompts() -> None:
    assert prompts() == prompts()
    assert {one.digest for one in prompts().values()}.isdisjoint(one.digest for one in prompts(seed=4).values())


def test_questions_about_different_haystacks_share_no_cache() -> None:
    made = prompts()
    with pytest.raises(ValueError, match="same haystack"):
        shared_prefix(made["main", 0], made["second_question", 1])
