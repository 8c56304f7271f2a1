import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.importers.k3_mac.observed import FASTEST_RESTORATION_TOKENS_PER_S, restoration_active, took_no_time


def test_a_millisecond_for_thousands_of_tokens_is_no_time():
    assert took_no_time(0.001, 5_000)
    assert took_no_time(0.0, None)
    assert not took_no_time(0.001, None)
    assert not took_no_time(0.001, 70)
    assert not took_no_time(0.5, 5_000)


@pytest.mark.parametrize(
    ("stated", "restoration_s", "aux_s", "blocks", "known"),
    [
        (True, 0.001, 0.0, 0, False),
        (None, 0.0, 0.0, 0, False),
        (True, 0.0, 34.0, 23, True),
        (True, 0.0, 0.0, 23, True),
        (True, 0.8, 0.0, 0, True),
        (None, 0.8, 0.0, 0, None),
        (True, None, 0.0, 0, None),
        (True, 0.0, None, 0, None),
        (True, 0.8, 0.0, None, None),
        (False, 0.8, 3.0, 9, False),
        (False, None, None, None, False),
    ],
)
def test_a_flag_holds_only_where_the_numbers_allow_it(stated, restoration_s, aux_s, blocks, known):
    assert restoration_active(stated, restoration_s, 5_810, aux_s, blocks) is known


@given(st.sampled_from([None, True, False]), st.floats(0, 100), st.integers(1, 10_000), st.integers(0, 100))
def test_activity_is_never_invented(stated, seconds, tokens, blocks):
    known = restoration_active(stated, seconds, tokens, 0.0, blocks)
    assert known is not True or stated is True
    if seconds > tokens / FASTEST_RESTORATION_TOKENS_PER_S:
        assert known is stated
