from gate.figures.rates import decode_rate, e2e_rate, median_of, prefill_seconds_a_token
from tests.gate.figures.rows import arm, row


def test_rates_need_tokens_and_seconds() -> None:
    assert decode_rate(row(0)) == 10.0
    assert decode_rate(row(0, decode_s=0.0)) is None
    assert decode_rate(row(0, decode_s=-1.0)) is None
    assert decode_rate(row(0, decode_tokens=None)) is None
    assert e2e_rate(row(0, token_ids=tuple(range(11)))) == 5.5
    assert e2e_rate(row(0, e2e_s=None)) is None


def test_prefill_is_by_prompt_token_and_needs_every_row() -> None:
    assert prefill_seconds_a_token(arm(row(0), row(1, prompt_tokens=200))) == [0.01, 0.005]
    assert prefill_seconds_a_token(arm(row(0), row(1, prefill_s=None))) is None
    hiccup = arm(row(0), row(0, repeat=1, prefill_s=50.0), row(0, repeat=2), row(1))
    assert prefill_seconds_a_token(hiccup) == [0.01, 0.01]
    assert prefill_seconds_a_token(arm()) is None


def test_a_median_with_an_unknown_value_is_unknown() -> None:
    assert median_of([1, 3, 2]) == 2
    assert median_of([1, None]) is None
    assert median_of([]) is None
