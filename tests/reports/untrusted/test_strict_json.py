import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.untrusted import strict_json
from reports.untrusted.strict_json import MAX_DEPTH, StrictJsonError, parse

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=30,
)


def refused(data):
    with pytest.raises(StrictJsonError) as caught:
        parse(data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_whatever_json_writes_is_read_back(value, escaped, indent):
    data = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()
    assert parse(data).value == value


@given(st.binary())
def test_any_bytes_are_read_or_refused(data):
    try:
        message = repr(parse(data))
    except StrictJsonError as error:
        message = str(error)
    assert message.isprintable()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[}", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"// note\n{}", "text before the JSON, which begins in line 2"),
        (b"# Words\n\nMore of them.", "it is text, and begins with '# Words'"),
        (b'{\n"a": x}', "(line 2, column 6)"),
        (b'{"a": 1} x', "data after the end"),
        (b'{\n"a": 1}\n}', "not JSON"),
        (b'{\n"a": 1}\n{}', "data after the end"),
        (b'{"a": NaN}', "NaN"),
        (b"[Infinity]", "Infinity"),
        (b"[-Infinity]", "-Infinity"),
        (b"9" * 5000, "thousands of digits"),
        (b'{"a": 1, "a": 1}', "'a' stands twice"),
        (b'[{"b": {"x\\ny": 1, "x\\ny": 2}}]', "'x\\ny' stands twice"),
        (b'{"a": "\xff"}', "not UTF-8 (byte 7)"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b'["\\ud800"]', "lone surrogate"),
        (b'{"\\uDFFF": 1}', "lone surrogate"),
    ],
)
def test_what_is_no_strict_json_is_refused(data, why):
    assert why in refused(data)


def test_a_surrogate_pair_and_an_escaped_backslash_are_no_lone_surrogates():
    assert parse(b'["\\ud83d\\ude00", "\\\\ud800"]').value == ["\U0001f600", "\\ud800"]


def test_a_byte_order_mark_is_skipped():
    assert parse(b"\xef\xbb\xbf[1]").value == [1]


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_depth_is_bounded(opening, closing):
    def nested(depth):
        return opening * depth + b"1" + closing * depth

    assert parse(nested(MAX_DEPTH)).value
    for depth in (MAX_DEPTH + 1, 10_000):
        assert "nested deeper" in refused(nested(depth))
    assert refused(opening * 10_000)


def test_brackets_inside_strings_are_no_depth():
    text = "[{" * 1000 + '\\"' + "\\\\"
    assert parse(json.dumps([text, text]).encode()).value == [text, text]


def test_the_number_of_values_is_bounded(monkeypatch):
    monkeypatch.setattr(strict_json, "MAX_VALUES", 10)
    assert parse(b"[0,0,0,0,0,0,0,0]").value == [0] * 8
    assert "more than 10 values" in refused(b"[" + b"0," * 10 + b"0]")
    assert "more than 10 values" in refused(b"[" + b"[]," * 10 + b"[]]")
    assert "more than 10 values" in refused(b'"' * 50)


def test_lines_are_a_list_of_documents():
    document = parse(b'{"a": 1}\n\n{"a": 2}\r\n')
    assert document.lines
    assert document.value == [{"a": 1}, {"a": 2}]
    assert not parse(b'{"a": 1}\n').lines


@pytest.mark.parametrize("second", [b"{", b"{} {}", b'{"a":1,"a":2}', b"[NaN]"])
def test_a_bad_line_is_named(second):
    assert "line 2" in refused(b"{}\n" + second)


def test_lines_are_counted_before_they_are_parted() -> None:
    with pytest.raises(StrictJsonError, match="more than 2000000 lines"):
        parse(b"1\n" * 2_000_002)


def test_objects_are_fewer_than_values() -> None:
    with pytest.raises(StrictJsonError, match="more than 200000 objects"):
        parse(b"[" + b"{}," * 200_000 + b"{}]")
