"""How sure a drafter should be, by costs."""

import pytest

from harness.training.drafter.held_out.caution import BlockCosts, cautions, chosen
from harness.training.drafter.held_out.walk import Foreseen

pytestmark = pytest.mark.torch

FREE = BlockCosts(draft=0, proposal=0)
COSTS = BlockCosts()


def drafter(right: list[bool], chances: list[float]) -> Foreseen:
    return Foreseen(
        [[1 if good else 0] * 3 for good in right], [[chance] * 3 for chance in chances], [[1] * 3] * len(right)
    )


BLIND = drafter([False] * 60, [0.02] * 60)
GOOD = drafter([True] * 60, [0.9] * 60)


def test_a_blind_drafter_is_told_to_be_silent() -> None:
    found = cautions([BLIND], COSTS)
    whole = found[0]
    assert whole.sure is None
    assert whole.gain < 0.75, "a proposal and three drafts a step"
    best = chosen(found)
    assert best.sure is not None
    assert sum(best.held_out.drafted) == 0
    assert 0.95 <= best.gain <= 1


def test_a_good_one_drafts_at_every_step() -> None:
    best = chosen(cautions([GOOD], COSTS))
    assert best.sure is None
    assert best.gain == pytest.approx(60 / (15 + 15 * 0.05 + 45 * 0.1))


def test_the_floor_is_every_sequence_s() -> None:
    found = cautions([BLIND, *[GOOD] * 9], COSTS)
    assert found[0].gain > 1
    best = chosen(found)
    assert best.sure is not None, "drafting at every step would slow one of ten down"
    assert best.worst >= 0.95


def test_what_costs_nothing_is_drafted_always() -> None:
    assert chosen(cautions([BLIND, GOOD], FREE)).sure is None


def test_where_no_threshold_keeps_the_floor_the_least_harm_is_chosen() -> None:
    certain = drafter([False] * 40, [0.99] * 40)
    dear = BlockCosts(draft=1, proposal=5)
    found = cautions([certain], dear)
    best = chosen(found)
    assert best.worst < 0.95
    assert best.worst == max(caution.worst for caution in found)
    assert best.sure is not None
