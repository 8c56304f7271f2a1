import pytest

from gate.figures.kv_memory import kv_bytes, kv_saving
from tests.gate.figures.rows import arm, row


def test_kv_bytes_are_the_larger_of_both_stages_and_need_both() -> None:
    assert kv_bytes(row(0, kv_bytes_prefill=10, kv_bytes_decode=20)) == 20
    assert kv_bytes(row(0, kv_bytes_decode=20)) is None
    assert kv_bytes(row(0, kv_bytes_prefill=10)) is None


def test_kv_saving_is_the_median_over_pairs_and_needs_all_of_them() -> None:
    full = arm(*(row(i, kv_bytes_prefill=100, kv_bytes_decode=100) for i in range(3)))
    small = arm(*(row(i, kv_bytes_prefill=bytes_, kv_bytes_decode=10) for i, bytes_ in enumerate((10, 20, 60))))
    assert kv_saving(small, full) == pytest.approx(0.8)
    assert kv_saving(small, arm(*full.measurements[:2])) is None
    assert kv_saving(arm(row(0)), full) is None
