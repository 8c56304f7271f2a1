"""The record of a row's blocks adds up from the blocks."""

from harness.engines.base import Block
from harness.engines.speculation import speculation


def test_totals_are_the_sums_of_the_blocks() -> None:
    blocks = [
        Block((1, 2, 3), drafted=3, accepted=2, draft_s=0.5, verify_s=1.0, extend_s=0.25, rollback_s=0.125, seconds=2),
        Block((4,), drafted=0, accepted=0, verify_s=1.0, seconds=1.0),
    ]
    said = speculation(blocks)
    assert (said.blocks, said.drafted, said.accepted, said.committed) == (2, 3, 2, 4)
    assert (said.draft_s, said.verify_s, said.extend_s, said.rollback_s) == (0.5, 2.0, 0.25, 0.125)
    assert said.mean_accept_len == 2.0
    assert said.accept_len_counts == "committed"
    assert said.rounds is not None
    assert [one.committed for one in said.rounds] == [3, 1]
    assert [one.seconds for one in said.rounds] == [2, 1.0]


def test_a_row_without_blocks_has_no_mean() -> None:
    said = speculation([])
    assert (said.blocks, said.committed, said.mean_accept_len) == (0, 0, None)
