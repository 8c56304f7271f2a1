import pytest

from reports.untrusted.toml import MOST_DOTS, TomlError, parse_toml


def test_a_document_is_read():
    assert parse_toml('a.b = "é"\n[[c]]\nd = 1.5\n'.encode()) == {"a": {"b": "é"}, "c": [{"d": 1.5}]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a" + b".a" * 100_000 + b" = 1", r"over 100 dots \(at line 1\)"),
        (b"\n[a" + b".a" * 100_000 + b"]", r"over 100 dots \(at line 2\)"),
        (b"a = " + b"[" * 100_000, "too deeply nested"),
        (b"a = " + b"{a = " * 100_000, "too deeply nested"),
        (b"a = " + b"9" * 100_000, "digits"),
        (b"\xff", "utf-8"),
        (b"a", "Expected"),
        (b'a = "\x00"', "Illegal character"),
    ],
)
def test_what_is_none_or_takes_for_ever_is_refused_in_a_line(data, said):
    with pytest.raises(TomlError, match=said) as caught:
        parse_toml(data)
    assert "\n" not in str(caught.value)


def test_as_many_dots_as_may_be_are_read():
    assert parse_toml(b"a" + b".a" * MOST_DOTS + b" = 1")
