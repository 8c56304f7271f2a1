"""Code to complete: seeded, in several languages, cut inside a series."""

import pytest

from tests.tokenizers_for_tests import model_text
from workloads.code import TEMPLATES, Code


def texts(seed: int, samples: int = 6, items: int = 8) -> list[str]:
    text = model_text(chat=False)
    prompts = Code(items=items, samples=samples, seed=seed).prompts(text)
    return [text.decode(prompt.tokens) for prompt in prompts]


def test_the_same_seed_gives_the_same_files_and_another_gives_others() -> None:
    assert texts(1) == texts(1)
    assert not set(texts(1)) & set(texts(2))


def test_every_language_takes_its_turn_and_no_two_prompts_are_the_same() -> None:
    many = texts(1, samples=3 * len(TEMPLATES))
    assert len(set(many)) == len(many)
    beginnings = {text[:14] for text in many[: len(TEMPLATES)]}
    assert len(beginnings) == len(TEMPLATES)


def test_nothing_is_asked_that_could_be_right_or_wrong() -> None:
    prompts = Code(items=8, samples=2, seed=1).prompts(model_text(chat=False))
    assert all(prompt.answer is None and prompt.needle_first is None for prompt in prompts)
    assert prompts == Code(items=8, samples=2, seed=1).prompts(model_text(chat=False))


@pytest.mark.parametrize("items", [2, 12, 40])
def test_more_items_make_longer_prompts(items: int) -> None:
    shorter, longer = texts(3, items=items), texts(3, items=items + 10)
    assert sum(map(len, shorter)) < sum(map(len, longer))
