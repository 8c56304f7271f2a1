"""A draft vocabulary: the verifier's tokens that a drafter can propose, so that its head needs no other rows.

An extension of K3's to the published layout: `k3_draft_vocab` in the config says how many there are, and a tensor
`draft_vocab` holds their ids, ascending. What is proposed from it is verified as ever, so the output does not change.
No tensors here.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import ModelError

CONFIG_KEY, TENSOR = "k3_draft_vocab", "draft_vocab"


def check_draft_vocab(folder: Path, count: int | None, ids: Sequence[int] | None, vocab: int) -> None:
    """See that config and weights agree on the draft vocabulary, and that all of it is the verifier's.

    Raises:
        ModelError: they do not, or the ids are not ascending, or one is none of the verifier's `vocab`.
    """
    if (count is None) != (ids is None):
        there, missing = (TENSOR, CONFIG_KEY) if count is None else (CONFIG_KEY, TENSOR)
        raise ModelError(f"{folder}: {there} without {missing}: config and weights are not of one drafter")
    if count is None or ids is None:
        return
    if len(ids) != count:
        raise ModelError(f"{folder}: {CONFIG_KEY} is {count}, {TENSOR} has {len(ids)} ids: not of one drafter")
    if any(later <= earlier for earlier, later in itertools.pairwise(ids)):
        raise ModelError(f"{folder}: {TENSOR}: ids that are not ascending: damaged, train or download it again")
    if ids[0] < 0 or ids[-1] >= vocab:
        raise ModelError(f"{folder}: {TENSOR}: an id outside the verifier's {vocab} tokens: not its drafter")
