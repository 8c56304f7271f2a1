"""Accepting drafts, on ints: what is kept is what plain decoding would have emitted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engines.acceptance import commit, leading_matches

TOKENS = st.integers(0, 3)


@st.composite
def blocks(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    drafts = draw(st.lists(TOKENS, max_size=6))
    choices = draw(st.lists(TOKENS, min_size=len(drafts) + 1, max_size=len(drafts) + 1))
    return drafts, choices


@given(blocks())
def test_a_block_commits_its_matches_and_one_token_more(block: tuple[list[int], list[int]]) -> None:
    drafts, choices = block
    done = commit(drafts, choices, ())
    assert done.accepted == done.matched == len(done.tokens) - 1
    assert list(done.tokens) == choices[: len(done.tokens)]
    assert drafts[: done.matched] == choices[: done.matched]
    assert done.matched == len(drafts) or drafts[done.matched] != choices[done.matched]


@given(blocks(), st.sets(TOKENS))
def test_nothing_follows_a_stop_token(block: tuple[list[int], list[int]], stops: set[int]) -> None:
    drafts, choices = block
    whole, done = commit(drafts, choices, ()), commit(drafts, choices, stops)
    assert whole.tokens[: len(done.tokens)] == done.tokens
    assert not stops & set(done.tokens[:-1])
    assert len(done.tokens) == len(whole.tokens) or done.tokens[-1] in stops
    assert done.matched == whole.matched
    assert len(done.tokens) - 1 <= done.accepted <= len(done.tokens)


def test_matches_end_at_the_first_difference() -> None:
    assert leading_matches([5, 6, 7], [5, 9, 7, 8]) == 1
    assert leading_matches([], [5]) == 0


@pytest.mark.parametrize("choices", [[], [1, 2, 3]])
def test_a_choice_too_few_or_too_many_is_refused(choices: list[int]) -> None:
    with pytest.raises(ValueError, match="1 drafts need 2 choices"):
        commit([1], choices, ())
