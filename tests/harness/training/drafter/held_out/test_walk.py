"""What drafts commit on held-out sequences, counted by hand."""

import pytest

from harness.training.drafter.blocks import IGNORED
from harness.training.drafter.held_out.walk import Foreseen, walk
from reports.drafters import LONGEST_REST

pytestmark = pytest.mark.torch


def foreseen(right: list[int], chance: float = 0.5) -> Foreseen:
    """Three drafts a place, of which so many leading ones are right, each by the same chance."""
    labels = [[7, 8, 9] for _ in right]
    drafts = [[7, 8, 9][:count] + [IGNORED - 1] * (3 - count) for count in right]
    return Foreseen(drafts, [[chance, chance**2, chance**3] for _ in right], labels)


def test_a_block_commits_its_leading_right_drafts_and_one_token_of_the_verifier() -> None:
    walked = walk([foreseen([2, 0, 0, 3, 0, 0, 0, 1])], None)
    assert (walked.held_out.tokens, walked.held_out.blocks, walked.asked) == (8, 3, 2)
    assert walked.held_out.drafted == (2, 2, 2)
    assert walked.held_out.accepted == (2, 2, 1)


def test_only_drafts_it_is_sure_of_are_read() -> None:
    walked = walk([foreseen([3] * 12)], 0.3)
    assert walked.held_out.drafted == (6, 0, 0)
    assert (walked.held_out.blocks, walked.held_out.tokens) == (6, 12)


def test_where_it_is_blind_it_rests_as_an_engine_lets_it() -> None:
    count = 200
    blind = walk([foreseen([0] * count)], 0.1)
    assert (blind.held_out.tokens, blind.held_out.blocks) == (count, count)
    asked_at = [0, 1, 3, 6, 11, 20, *range(37, count - 1, LONGEST_REST + 1)]
    assert blind.asked == len(asked_at)
    assert walk([foreseen([0] * count)], None).asked == count - 1, "the last place has room for no draft"


def test_sequences_are_walked_each_from_its_own_beginning() -> None:
    one, other = foreseen([0] * 9), foreseen([3] * 9)
    both = walk([one, other], 0.1)
    assert both.asked == walk([one], 0.1).asked + walk([other], 0.1).asked
