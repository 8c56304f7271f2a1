"""Counts of a parity report: what agrees, and how the rest differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.drafter_parity import agreement
from gate.render.tables.parity_counts import prefix_consistent, summarise_parity
from reports.records.drafter_parity import ParityBlock, ParityResult


def block(reference: tuple[int, ...], candidate: tuple[int, ...], number: int = 0) -> ParityBlock:
    return ParityBlock(
        sample=0, block=number, context_tokens=5 + number, reference_tokens=reference, candidate_tokens=candidate
    )


def result(*blocks: ParityBlock) -> ParityResult:
    return ParityResult(reference_runtime="torch", candidate_runtime="mlx", candidate_dtype="bfloat16", blocks=blocks)


@pytest.mark.parametrize(
    ("candidate", "consistent"), [((1, 2, 3), True), ((1, 9, 9), True), ((1, 9, 3), False), ((9, 2, 3), False)]
)
def test_mismatches_are_a_tail_or_scattered(candidate: tuple[int, ...], consistent: bool) -> None:
    assert prefix_consistent(block((1, 2, 3), candidate)) is consistent


def test_a_report_is_summed_up_in_counts() -> None:
    shown = summarise_parity(
        result(block((1, 2, 3), (1, 2, 3)), block((1, 2, 3), (1, 9, 9), 1), block((1, 2, 3), (9, 2, 3), 2))
    )
    assert (shown.samples, shown.blocks, shown.tokens, shown.equal) == (1, 3, 9, 6)
    assert (shown.differing, shown.consistent) == (2, 1)
    assert (shown.candidate, shown.reference) == ("mlx bfloat16", "torch (dtype not recorded)")


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.lists(st.integers(0, 3))), min_size=1)
)
def test_the_counts_are_those_the_claim_is_made_of(pairs: list[tuple[list[int], list[int]]]) -> None:
    parity = result(*(block(tuple(ours), tuple(theirs), number) for number, (ours, theirs) in enumerate(pairs)))
    shown = summarise_parity(parity)
    assert shown.equal / shown.tokens == agreement(parity)
    assert 0 <= shown.consistent <= shown.differing <= shown.blocks
