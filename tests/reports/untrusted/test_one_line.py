import pytest

from reports.untrusted.one_line import LIMIT, every_line, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcödé 日本", "plain, ünïcödé 日本"),
        ("two\nlines\r\n", "two\\nlines\\r\\n"),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("lone \ud800", "lone \\ud800"),
        ("\u2028\u202e", "\\u2028\\u202e"),
    ],
)
def test_what_cannot_be_printed_is_escaped(text, shown):
    assert one_line(text) == shown


def test_long_text_is_cut_to_the_limit():
    assert len(one_line("x" * 10**6)) == LIMIT
    assert one_line("x" * 10**6, 10) == "xxxxxxx..."
    assert one_line("x" * 10, 10) == "x" * 10
    assert len(one_line("\n" * 10, 10)) == 10


def test_lines_keep_their_ends_and_tabs_and_nothing_else():
    assert every_line("a\tb\r\n\x1b[2J\u202ec\n") == "a\tb\\r\n\\x1b[2J\\u202ec\n"
