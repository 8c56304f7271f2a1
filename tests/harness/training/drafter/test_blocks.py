"""What a block should propose, and how many tokens right proposals are worth."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.training.drafter.blocks import IGNORED, blocks_of, draft_vocabulary, draw_anchors, greedy_labels, places_in
from harness.training.drafter.verifier import Continued

pytestmark = pytest.mark.torch


def sequence_of(tokens: list[int], prompt: int, choices: list[int] | None = None) -> Continued:
    chosen = tokens[1:] if choices is None else choices
    return Continued(torch.tensor(tokens), prompt, torch.tensor(chosen), torch.arange(len(chosen))[:, None].float())


def test_labels_follow_the_verifier_until_the_text_leaves_it() -> None:
    # After token 2 the verifier would have put 9; the text has 3.
    sequence = sequence_of([1, 2, 3, 4, 5], 3, [2, 9, 4, 5])
    labels = greedy_labels(sequence, torch.tensor([0, 1, 2, 3]), 3)
    assert labels.tolist() == [[2, 9, IGNORED], [9, IGNORED, IGNORED], [4, 5, IGNORED], [5, IGNORED, IGNORED]]


def test_blocks_read_what_comes_before_them_and_mask_what_comes_after() -> None:
    made = blocks_of(
        [(sequence_of([1, 2, 3, 4, 5], 2), torch.tensor([1, 3]))], 3, 99, places_in(torch.tensor([3, 5]), 9)
    )
    assert made.tokens.tolist() == [[2, 99, 99], [4, 99, 99]]
    assert made.labels.tolist() == [[0, IGNORED], [1, IGNORED]]
    assert len(made.sequences[0].features) == 3
    assert made.features[0].flatten().tolist() == [1.0, 2.0]


@given(st.integers(2, 30), st.integers(2, 30), st.integers(1, 40), st.integers(0, 9))
def test_anchors_are_distinct_ascending_and_have_context_and_a_label(
    prompt: int, new: int, count: int, seed: int
) -> None:
    sequence = sequence_of(list(range(prompt + new)), prompt)
    anchors = draw_anchors(sequence, count, np.random.default_rng(seed)).tolist()
    assert anchors == sorted(set(anchors))
    assert 0 < len(anchors) <= count
    assert all(1 <= anchor < prompt + new - 1 for anchor in anchors)


def test_the_draft_vocabulary_has_the_most_frequent_tokens() -> None:
    ids = draft_vocabulary([sequence_of([7, 3, 3, 5, 5, 5, 7, 1], 2)], 3, 10)
    assert ids.tolist() == [3, 5, 7]
    assert places_in(ids, 10).tolist() == [-1, -1, -1, 0, -1, 1, -1, 2, -1, -1]
    assert draft_vocabulary([sequence_of([7, 3], 1)], 100, 10).tolist() == [3, 7]
