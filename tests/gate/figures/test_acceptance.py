import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.acceptance import acceptance_of
from reports.records.measurement import BlockRecord, Speculation
from tests.gate.figures.rows import arm, row


def spoken(*blocks: tuple[int, int, int]) -> Speculation:
    """Rounds of (drafted, accepted, committed)."""
    rounds = tuple(
        BlockRecord(
            drafted=drafted, accepted=accepted, committed=committed, draft_s=0.1, verify_s=0.1, extend_s=0.0,
            rollback_s=0.0, seconds=0.2,
        )
        for drafted, accepted, committed in blocks
    )  # fmt: skip
    return Speculation(rounds=rounds)


def test_acceptance_is_three_figures_of_all_rounds() -> None:
    found = acceptance_of(
        arm(row(0, speculation=spoken((4, 2, 3), (4, 4, 5), (0, 0, 1))), row(1, speculation=spoken((2, 0, 1))))
    )
    assert found is not None
    assert found.rate == pytest.approx(6 / 10)
    assert found.committed_per_block == pytest.approx(10 / 4)
    assert found.by_position == pytest.approx((2 / 3, 2 / 3, 1 / 2, 1 / 2))


def test_acceptance_is_unknown_where_a_row_lacks_its_rounds_or_nothing_was_drafted() -> None:
    assert acceptance_of(arm(row(0, speculation=spoken((4, 2, 3))), row(1))) is None
    assert acceptance_of(arm(row(0, speculation=spoken((0, 0, 1))))) is None
    assert acceptance_of(arm()) is None


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=30))
def test_acceptance_by_position_falls_and_adds_up(blocks: list[tuple[int, int]]) -> None:
    rounds = [(drafted, min(accepted, drafted), min(accepted, drafted) + 1) for drafted, accepted in blocks]
    found = acceptance_of(arm(row(0, speculation=spoken(*rounds))))
    if found is None:
        assert all(drafted == 0 for drafted, _ in blocks)
        return
    assert len(found.by_position) == max(drafted for drafted, _ in blocks)
    reached = [sum(drafted > i for drafted, _, _ in rounds) for i in range(len(found.by_position))]
    kept = sum(share * count for share, count in zip(found.by_position, reached, strict=True))
    assert kept == pytest.approx(sum(accepted for _, accepted, _ in rounds))
