"""Tables fit where they are read: parts below one another, words whole, figures under figures."""

import io

from hypothesis import given
from hypothesis import strategies as st

from gate.render.tables.drawing import table_lines, write_table
from reports.printing.width import PIPE_COLUMNS


def drawn(columns: tuple[str, ...], rows: list[tuple[str, ...]], width: int, words: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in table_lines(columns, rows, width, words=words)]


def test_a_table_fits_its_figures() -> None:
    stream = io.StringIO()
    write_table(("name", "value"), [("[red]a[/red]", "1"), ("b", "10")], stream, words=1)
    assert stream.getvalue().splitlines() == ["name          value", "[red]a[/red]      1", "b                10", ""]


def test_a_wide_table_stands_in_parts_that_begin_alike() -> None:
    lines = drawn(("arm", *"abcdef"), [("x" * 10, *["1" * 15] * 6)], 60, 1)
    assert [line.split()[0] for line in lines if line] == ["arm", "x" * 10] * 3
    assert [line.split() for line in lines if line.startswith("arm")] == [
        ["arm", *"ab"],
        ["arm", *"cd"],
        ["arm", *"ef"],
    ]


def test_a_column_without_a_cell_is_left_out() -> None:
    assert drawn(("arm", "recall", "s"), [("a", "", "1"), ("b", "", "2")], 80, 1)[0].split() == ["arm", "s"]


def test_words_go_on_below_and_long_ones_stay_whole() -> None:
    digest = "sha256:" + "0" * 64
    lines = drawn(("", ""), [("packages", "one 1.0, two 2.0, three 3.0, four 4.0, five 5.0"), ("plan", digest)], 40, 2)
    assert lines == [
        "packages  one 1.0, two 2.0, three 3.0,",
        "          four 4.0, five 5.0",
        f"plan      {digest}",
        "",
    ]


def test_wide_letters_take_two_columns() -> None:
    lines = drawn(("arm", "s"), [("模型", "1"), ("abcd", "2")], 80, 1)
    assert lines[1:3] == ["模型  1", "abcd  2"]


words = st.text("ab", min_size=1, max_size=12)


@given(st.integers(1, 4), st.integers(1, 8), st.data())
def test_no_figure_is_lost_and_no_line_is_too_long(rows: int, columns: int, data: st.DataObject) -> None:
    names = tuple(data.draw(words) for _ in range(columns))
    cells = [tuple(f"{row}x{number}" for number in range(columns)) for row in range(rows)]
    lines = drawn(names, cells, PIPE_COLUMNS, 1)
    assert max(map(len, lines)) <= PIPE_COLUMNS
    assert {cell for row in cells for cell in row} <= {word for line in lines for word in line.split()}
