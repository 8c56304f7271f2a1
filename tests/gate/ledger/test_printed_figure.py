from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ledger.printed_figure import PrintedNumber, PrintedShare, printed_before


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("decodes 1.62x ", 1.6184),
        ("decodes **1.62x** ", 1.6184),
        ("| 1.62 × ", 1.6184),
        ("saves 89.8 % ", 0.89849),
        ("saves 89.8% ", 0.8975),
        ("saves -3 percent", -0.03),
        ("it takes 64 ms\n", 0.06397),
        ("held 132.92 MB", 132_915_200),
        ("held 20 KiB", 20_480),
        ("read 1,024 tokens", 1024),
        ("an error of 1.5e-4", 0.000153),
        ("ran at −0.5 s", -0.46),
        ("about 16.8 tok/s", 16.7501),
        ("`4.5 bits`", 4.5),
        ("0.03x", 0.0312),
        ("1.5x", 1.55),
        ("1.6x", 1.55),
    ],
)
def test_a_value_that_rounds_to_the_figure_agrees(text: str, value: float) -> None:
    figure = printed_before(text)
    assert isinstance(figure, PrintedNumber)
    assert figure.agrees(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.62x", 1.6149),
        ("1.62x", 1.6251),
        ("1.620x", 1.6184),
        ("89.8 %", 0.8),
        ("89.8 %", 89.8),
        ("64 ms", 64),
        ("20 kB", 21_000),
        ("1,024", 1025),
    ],
)
def test_a_value_that_rounds_to_another_figure_does_not(text: str, value: float) -> None:
    figure = printed_before(text)
    assert isinstance(figure, PrintedNumber)
    assert not figure.agrees(value)


@pytest.mark.parametrize(
    ("text", "part", "whole"), [("recalls 5/5 ", 5, 5), ("recalls 2 of 5", 2, 5), ("**0/7**", 0, 7)]
)
def test_a_share_is_exact(text: str, part: int, whole: int) -> None:
    share = printed_before(text)
    assert share == PrintedShare(share.text if share else "", part, whole)
    assert share.agrees(part / whole)
    assert not share.agrees((part + 0.5) / whole)


def test_a_share_of_nothing_agrees_with_nothing() -> None:
    share = printed_before("0/0")
    assert share is not None
    assert not share.agrees(0.0)


@pytest.mark.parametrize(
    "text", ["", "a figure", "1.62x faster", "v1.2.3", "1,5x", "2026-11-29 is a date", "1/2/3", "3xx"]
)
def test_what_is_no_figure_is_not_read_as_one(text: str) -> None:
    assert printed_before(text) is None


def test_what_a_figure_should_have_been_is_told_in_its_own_digits() -> None:
    figure = printed_before("89.8 %")
    assert isinstance(figure, PrintedNumber)
    assert figure.of(0.41237) == "41.2 %"


@given(st.floats(-1e5, 1e5), st.integers(0, 6))
def test_a_rounded_value_agrees_with_what_it_was_rounded_from(value: float, digits: int) -> None:
    figure = PrintedNumber("", Decimal(f"{value:.{digits}f}"), "")
    assert figure.agrees(value)
    assert not figure.agrees(value + 1.01 * 10**-digits)
