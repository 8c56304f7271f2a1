import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.file_form.columns import to_columns, to_rows
from reports.file_form.form_error import FileFormError
from reports.file_form.microseconds import MICROSECONDS, SECONDS, to_microseconds, to_seconds
from reports.file_form.room import Room
from reports.records.measurement import BlockRecord

microseconds = st.integers(-(10**12), 10**12)
seconds = st.floats(allow_nan=False, allow_infinity=False) | microseconds.map(lambda count: count / 1e6)


@given(st.lists(microseconds, min_size=1))
def test_whole_microseconds_are_written_as_such_and_come_back(counts):
    column = [count / 1e6 for count in counts]
    assert to_microseconds("draft_s", column) == ("draft_us", counts)
    assert to_seconds({"draft_us": counts}, "rounds") == {"draft_s": column}


@given(st.lists(st.decimals(0, 1000, places=6), min_size=1))
def test_what_was_rounded_to_six_places_is_whole_microseconds(values):
    name, _ = to_microseconds("seconds", [round(float(value), 6) for value in values])
    assert name == "microseconds"


@given(st.lists(seconds | st.none(), min_size=1))
def test_any_clock_comes_back(column):
    assert to_seconds(dict([to_microseconds("verify_s", column)]), "rounds") == {"verify_s": column}


def test_a_field_that_is_no_clock_of_a_block_stays_as_it_is():
    assert to_microseconds("decode_s", [0.5]) == ("decode_s", [0.5])


@pytest.mark.parametrize("column", [[0.5], ["1"], [True], [None], [2**60], [[]]])
def test_what_is_no_count_of_microseconds_is_refused(column):
    with pytest.raises(FileFormError, match=r"rounds.draft_us: must hold whole numbers"):
        to_seconds({"draft_us": column}, "rounds")


def test_a_clock_in_two_units_is_refused():
    with pytest.raises(FileFormError, match="draft_us and draft_s are one clock"):
        to_seconds({"draft_us": [1], "draft_s": [1e-6]}, "rounds")


def test_blocks_are_written_in_whole_microseconds():
    clocks = dict.fromkeys(MICROSECONDS, 0.000227)
    rows = [{"drafted": 1, "accepted": 1, "committed": 2, **clocks}]
    columns = to_columns(rows)
    assert {name: columns[name] for name in SECONDS} == {name: [227] for name in SECONDS}
    assert to_rows(columns, BlockRecord, Room(), "rounds") == rows
