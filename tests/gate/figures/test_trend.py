"""Drift of an arm over the run, and the cost of each run."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures import trend
from reports.records.measurement import Arm, Measurement


def arm(seconds: dict[tuple[int, int], float], *, lengths: dict[int, int] | None = None) -> Arm:
    """Rows in the given order, every second place of the run; `lengths` are prompt tokens by sample."""
    rows = tuple(
        Measurement(
            sample=sample,
            repeat=repeat,
            order=2 * place,
            decode_tokens=10,
            decode_s=spent,
            prefill_s=spent,
            prompt_tokens=(lengths or {}).get(sample, 100),
        )
        for place, ((sample, repeat), spent) in enumerate(seconds.items())
    )
    return Arm(name="oracle", role="oracle", engine="ar", measurements=rows)


def interleaved(repeats: int, slowdown: float) -> Arm:
    """Three samples of very different cost, repeats outermost, slowing down steadily by `slowdown` in all."""
    keys = [(sample, repeat) for repeat in range(repeats) for sample in range(3)]
    last = max(1, len(keys) - 1)
    return arm({key: (1 + key[0]) * slowdown ** (place / last) for place, key in enumerate(keys)})


@given(st.floats(0.5, 2.0), st.integers(2, 5))
def test_a_steady_drift_is_found_whatever_the_samples_cost(slowdown: float, repeats: int) -> None:
    assert trend.drift(interleaved(repeats, slowdown), "decode_speedup") == pytest.approx(1 / slowdown)


def test_without_repeats_all_rows_are_compared() -> None:
    steady = arm({(sample, 0): 1.1**sample for sample in range(6)})
    assert trend.drift(steady, "decode_speedup") == pytest.approx(1.1**-5)


def test_too_few_rows_or_no_order_tell_nothing() -> None:
    assert trend.drift(arm({(0, 0): 1.0, (1, 0): 2.0}), "decode_speedup") is None
    unordered = interleaved(3, 2.0)
    rows = tuple(row.replace(order=None) for row in unordered.measurements)
    assert trend.drift(unordered.replace(measurements=rows), "decode_speedup") is None


def test_rows_that_claim_one_place_do_not_break_it() -> None:
    same = interleaved(3, 2.0)
    rows = tuple(row.replace(order=5) for row in same.measurements)
    assert trend.drift(same.replace(measurements=rows), "decode_speedup") is None


def test_absurd_times_stay_finite() -> None:
    wild = arm({(0, 0): 1e-300, (0, 1): 1.0, (0, 2): 1e300})
    found = trend.drift(wild, "decode_speedup")
    assert found is not None
    assert math.isfinite(found)


def test_many_rows_are_thinned() -> None:
    keys = {(sample, repeat): 1.0 for repeat in range(3) for sample in range(500)}
    assert trend.drift(arm(keys), "decode_speedup") == 1.0


def test_costs_are_by_token_and_in_order_of_the_run() -> None:
    one = arm({(1, 0): 4.0, (0, 0): 2.0}, lengths={1: 200, 0: 50})
    backwards = one.replace(measurements=one.measurements[::-1])
    assert [cost.seconds for cost in trend.prefill_costs(backwards)] == [0.02, 0.04]
    assert [cost.seconds for cost in trend.decode_costs(backwards)] == [0.4, 0.2]
