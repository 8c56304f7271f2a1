import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.drafter_parity import agreement, compared, disagreements
from reports.records.drafter_parity import ParityBlock, ParityResult

WEIGHTS = "sha256:" + "a" * 64

tokens = st.lists(st.integers(0, 9), max_size=8).map(tuple)


def block(number: int, reference: tuple[int, ...], candidate: tuple[int, ...]) -> ParityBlock:
    """One compared block of sample 0."""
    return ParityBlock(
        sample=0, block=number, context_tokens=10, reference_tokens=reference, candidate_tokens=candidate
    )


def parity(*blocks: ParityBlock, candidate: str = "mlx") -> ParityResult:
    """A comparison of torch with `candidate`."""
    return ParityResult(drafter_weights=WEIGHTS, reference_runtime="torch", candidate_runtime=candidate, blocks=blocks)


def blocks(count: int, size: int = 8) -> tuple[ParityBlock, ...]:
    """Distinct blocks that agree."""
    tokens = [tuple(range(number, number + size)) for number in range(count)]
    return tuple(block(number, ids, ids) for number, ids in enumerate(tokens))


@given(tokens, tokens)
def test_a_token_without_a_partner_disagrees(reference: tuple[int, ...], candidate: tuple[int, ...]) -> None:
    one = block(0, reference, candidate)
    assert 0 <= disagreements(one) <= compared(one)
    assert disagreements(one) >= abs(len(reference) - len(candidate))
    assert (disagreements(one) == 0) == (reference == candidate)


def test_agreement_counts_all_tokens() -> None:
    assert agreement(parity(block(0, (1, 2, 3), (1, 2, 4)), block(1, (1,), (1, 2)))) == pytest.approx(3 / 5)
    assert agreement(parity()) is None
    assert agreement(None) is None
