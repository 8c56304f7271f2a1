from gate.figures.rates import decode_rate, e2e_rate, median_of, prefill_seconds_a_token
from reports.records.measurement import Arm, Measurement, Role

DIGESTS = tuple("sha256:" + f"{index:064x}" for index in range(10))


def row(sample: int, repeat: int = 0, **fields: object) -> Measurement:
    """A row of ten decode tokens in one second."""
    base: dict[str, object] = {
        "sample": sample,
        "repeat": repeat,
        "prompt_digest": DIGESTS[sample % 10],
        "decode_tokens": 10,
        "decode_s": 1.0,
        "e2e_s": 2.0,
        "prefill_s": 1.0,
        "prompt_tokens": 100,
    }
    return Measurement.model_validate(base | fields)


def arm(*rows: Measurement, name: str = "arm", role: Role = "sut") -> Arm:
    """An arm with these rows."""
    return Arm(name=name, role=role, engine="ar", measurements=rows)


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
