import copy

import pytest

from reports.file_form.form_error import FileFormError
from reports.file_form.room import Room
from reports.file_form.streams import OF_STREAM, share_streams, spread_streams
from reports.records.measurement import Measurement
from reports.untrusted.strict_json import MAX_VALUES

SAID = {"token_ids": [1, 2], "text": "ab", "correct": True}
ARM = {
    "name": "oracle",
    "measurements": [
        {"sample": 0, "repeat": 0, **SAID, "prefill_s": 0.5},
        {"sample": 1, "repeat": 0, **SAID, "text": "cd", "prefill_s": 0.5},
        {"sample": 0, "repeat": 1, **SAID, "prefill_s": 0.25},
    ],
}


def spread(arm, room=None):
    spread_streams(arm, room or Room(), "arms.0")
    return arm


def shared(**changes):
    return share_streams(copy.deepcopy(ARM)) | changes


def test_what_repeats_stands_once():
    assert shared() == {
        "name": "oracle",
        "streams": [SAID, SAID | {"text": "cd"}],
        "measurements": [
            {"stream": 0, "sample": 0, "repeat": 0, "prefill_s": 0.5},
            {"stream": 1, "sample": 1, "repeat": 0, "prefill_s": 0.5},
            {"stream": 0, "sample": 0, "repeat": 1, "prefill_s": 0.25},
        ],
    }


def test_rows_come_back():
    assert spread(shared()) == ARM
    bare = {"measurements": [{"sample": 0, "repeat": 0}]}
    assert share_streams(bare) == bare


def test_a_row_without_a_stream_has_no_number():
    rows = [{"sample": 0}, {"sample": 1, "text": "a"}, {"sample": 2}, {"sample": 3, "text": "b"}]
    made = share_streams({"measurements": rows})
    assert [row.get("stream") for row in made["measurements"]] == [None, 0, None, 1]
    assert spread(made) == {"measurements": rows}


def test_true_is_not_one_and_one_is_not_a_fraction():
    rows = [{"sample": 0, "prompt_tokens": value} for value in (1, True, 1.0)]
    assert len(share_streams({"measurements": rows})["streams"]) == 3


def test_every_field_of_a_stream_is_one_of_a_row():
    assert set(OF_STREAM) <= set(Measurement.model_fields)
    assert not any(name.endswith("_s") for name in OF_STREAM)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"streams": {}}, "arms.0.streams: must be a list"),
        ({"measurements": 7}, "arms.0.streams: must be a list, beside a list of measurements"),
        ({"streams": [SAID, 7]}, "arms.0.streams.1: must be an object"),
        ({"streams": [SAID, SAID | {"prefill_s": 0.1}]}, "arms.0.streams.1: has a field that is none of a stream"),
        ({"streams": [SAID, SAID, SAID]}, "arms.0.streams.2: no row is of this stream"),
        ({"streams": [SAID]}, "arms.0.measurements.1.stream: is no number of one of the 1 streams"),
        ({"streams": [SAID], "measurements": [{"stream": -1}]}, "arms.0.measurements.0.stream: is no number"),
        ({"streams": [SAID], "measurements": [{"stream": False}]}, "arms.0.measurements.0.stream: is no number"),
        ({"streams": [SAID], "measurements": [{"stream": 10**30}]}, "arms.0.measurements.0.stream: is no number"),
        ({"streams": [SAID], "measurements": [{"stream": 0, "text": "x"}]}, "measurements.0.text: stands in its"),
    ],
)
def test_streams_that_fit_no_rows_are_refused(changes, told):
    with pytest.raises(FileFormError) as caught:
        spread(shared(**changes))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("stream", [{"token_ids": [7] * 100_000}, {"text": "x" * 4_000_000}])
def test_a_small_file_does_not_become_a_large_report(stream):
    rows = [{"sample": sample, "stream": 0} for sample in range(1000)]
    with pytest.raises(FileFormError, match=f"unpacks to more than {MAX_VALUES} values"):
        spread({"streams": [stream], "measurements": rows})


def test_arms_share_one_room():
    room = Room(values=18)  # six for a copy: the object, its three commas, its list
    spread(shared(), room)
    with pytest.raises(FileFormError):
        spread(shared(), room)
