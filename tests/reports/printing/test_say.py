"""What K3 prints fits where it is read: whole words, nothing lost, one line a statement in a pipe."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.printing.lines import Line, folded
from reports.printing.say import say
from reports.printing.width import FEWEST_COLUMNS, PIPE_COLUMNS, columns_of, width_of

LONG = "one statement of so many words that no terminal of eighty columns has room for all of it, at /a/path/of/it.json"


def lines(text: str, width: int | None, hang: int | None = None) -> list[str]:
    return ["".join(part for part, _ in line) for line in folded(((text, ""),), width, hang)]


def said(text: str, *, page: bool = False) -> list[str]:
    stream = io.StringIO()
    say(text, stream, page=page)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("variable", "columns"), [("100", 100), ("5", FEWEST_COLUMNS), ("", None), ("x", None), ("0", None)]
)
def test_the_width_is_what_the_caller_says(monkeypatch: pytest.MonkeyPatch, variable: str, columns: int | None) -> None:
    monkeypatch.setenv("COLUMNS", variable)
    assert columns_of(io.StringIO()) == columns


def test_in_a_pipe_a_statement_is_one_line_and_a_page_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "")
    assert said(LONG) == [LONG]
    assert len(said(LONG, page=True)) == 2
    assert max(map(len, said(LONG, page=True))) <= PIPE_COLUMNS
    monkeypatch.setenv("COLUMNS", "60")
    assert said(LONG) == lines(LONG, 60)


def test_a_statement_from_a_file_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\nverdict: admissible\x9b")
    assert capsys.readouterr().out == "a\\nverdict: admissible\\x9b\n"


def test_a_path_that_is_too_long_stays_whole() -> None:
    path = "/folder" * 20 + "/report.json"
    assert lines(f"report: {path} is gone", 80) == ["report:", f"  {path}", "  is gone"]


def test_it_goes_on_two_columns_further_in_or_where_it_is_told_to() -> None:
    text = "  Why: " + "word " * 20
    assert [len(line) - len(line.lstrip()) for line in lines(text, 60)] == [2, 4]
    assert [len(line) - len(line.lstrip()) for line in lines(text, 60, 7)] == [2, 7]


def test_a_command_is_kept_whole_where_there_is_room() -> None:
    command = "(`k3 eval --preset demo --set a=1`)."
    assert lines(f"Change first: decode so many more tokens {command}", 60)[1] == f"  {command}"
    assert len(lines(f"Change first: `{'k3 eval ' * 30}`", 60)) > 3


def test_the_styles_go_with_their_words() -> None:
    line: Line = (("one two ", "red"), ("three " * 10, "bold"))
    first, second = folded(line, 40)
    assert first == (("one two ", "red"), (("three " * 5).rstrip(), "bold"))
    assert second == (("  ", ""), (("three " * 5).rstrip(), "bold"))


@given(st.lists(st.text("ab`模-", min_size=1, max_size=60), max_size=30), st.integers(40, 130), st.integers(0, 90))
def test_no_word_is_lost_or_broken_and_no_line_is_too_wide(words: list[str], width: int, hang: int) -> None:
    shown = lines(" ".join(words), width, hang)
    assert [word for line in shown for word in line.split()] == words
    for line in shown:
        assert width_of(line) <= width or len(line.split()) == 1
