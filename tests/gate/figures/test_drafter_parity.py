import pytest
from hypothesis import given

from gate.figures.drafter_parity import agreement, compared, disagreements
from tests.gate.figures.parity_blocks import block, parity, tokens


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
