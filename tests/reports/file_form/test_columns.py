import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.file_form.columns import to_columns, to_rows
from reports.file_form.form_error import FileFormError
from reports.file_form.room import Room
from reports.records.codec_rows import LayerError
from reports.records.plan import Run

number = st.integers(0, 9) | st.floats(allow_nan=False, allow_infinity=False)
rows_of_layers = st.lists(
    st.fixed_dictionaries({"layer": number, "k": number, "v": number}, optional={"attention": number}), min_size=1
)


@given(rows_of_layers)
def test_rows_come_back_from_their_columns(rows):
    columns = to_columns(rows)
    assert {len(column) for column in columns.values()} == {len(rows)}
    assert to_rows(columns, LayerError, Room(), "layers") == rows


def test_what_a_row_has_not_is_null_and_stays_absent():
    rows = [{"layer": 0, "k": 0.1, "v": 0.2}, {"layer": 1, "k": 0.3, "v": 0.4, "attention": 0.5}]
    assert to_columns(rows)["attention"] == [None, 0.5]
    assert to_rows(to_columns(rows), LayerError, Room(), "layers") == rows


@pytest.mark.parametrize("value", [[], [{"arm": "a"}], None, 7, "x", {"arm": 7}, {"arm": {}}])
def test_what_is_no_column_is_left_to_the_records(value):
    assert to_rows(value, Run, Room(), "plan.order") is value


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({}, "plan.order: there is no column arm"),
        ({"arm": ["a"], "sample": [0]}, "plan.order: there is no column repeat"),
        (
            {"arm": ["a"], "sample": [0, 1], "repeat": [0]},
            "plan.order: its columns are not of one length: arm has 1 values, sample 2",
        ),
    ],
)
def test_columns_that_make_no_rows_are_refused(columns, told):
    with pytest.raises(FileFormError) as caught:
        to_rows(columns, Run, Room(), "plan.order")
    assert str(caught.value) == told


def test_columns_unpack_to_no_more_than_a_file_may_hold():
    columns = {"arm": ["a"] * 3, "sample": [0] * 3, "repeat": [0] * 3}
    assert len(to_rows(columns, Run, Room(values=12), "plan.order")) == 3
    with pytest.raises(FileFormError, match="unpacks to more"):
        to_rows(columns, Run, Room(values=11), "plan.order")
