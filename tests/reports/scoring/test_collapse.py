"""Texts that collapsed into a repeat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.scoring.collapse import is_degenerate


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["The"] * 8),
        "fine so far\n" * 1 + "The\n" * 8 + "is",
        "\n\n".join(["The"] * 8),
        "The\na\nThe\nb\n" * 4,
        "and is " * 8,
        "BETA-4582 is and is and" + " is and" * 8 + " is a",
        "由于" * 8 + "由",
        "a" * 8,
        "answer" + "\n" * 8,
    ],
)
def test_runaway_repeats_are_degenerate(text: str) -> None:
    assert is_degenerate(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n".join(["The"] * 7),
        "and is " * 7,
        "aaaaaaa",
        "reader = csv.DictReader(f)\n        \n        ",
        "\n".join(["a line of more than forty characters, all of it the same"] * 20) + " end",
        "\n".join(f"line {i}\n}}" for i in range(7)),
        "\n".join(f"def f{i}():\n    x = {i}\n    return x" for i in range(12)),
    ],
)
def test_ordinary_text_is_not(text: str) -> None:
    assert not is_degenerate(text)


@given(st.text(max_size=60), st.text(alphabet="is and", min_size=1, max_size=8).filter(str.strip))
def test_any_text_with_a_unit_repeated_eight_times_at_its_tail_is_degenerate(before: str, unit: str) -> None:
    assert is_degenerate(before + "x" + unit.strip() * 8)
