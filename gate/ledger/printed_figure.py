"""A figure as prose shows it, and whether a measured value rounds to it."""

import re
from dataclasses import dataclass
from decimal import Decimal

_FACTORS: dict[str, Decimal] = {
    "": Decimal(1),
    "x": Decimal(1),
    "×": Decimal(1),
    "times": Decimal(1),
    "%": Decimal(100),
    "percent": Decimal(100),
    "s": Decimal(1),
    "ms": Decimal(1000),
    "tok/s": Decimal(1),
    "tokens": Decimal(1),
    "bits": Decimal(1),
    "B": Decimal(1),
    "kB": Decimal(1) / 10**3,
    "MB": Decimal(1) / 10**6,
    "GB": Decimal(1) / 10**9,
    "KiB": Decimal(1) / 2**10,
    "MiB": Decimal(1) / 2**20,
    "GiB": Decimal(1) / 2**30,
}
"""What a recorded value (a ratio, a fraction, seconds, bytes) is multiplied by before it is shown in a unit."""

UNITS = tuple(unit for unit in _FACTORS if unit)

RATIO_UNITS = ("x", "×", "times", "")

SHARE_UNITS = ("%", "percent", "")

_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))

_NUMBER = r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?"

_CLOSING = re.compile(r"[\s*_`~\"')\]]*\Z")

_SHARE = re.compile(r"(?<![\w.,/])(\d{1,9})\s*(?:/|\s+of\s+)\s*(\d{1,9})\Z")

_PLAIN = re.compile(rf"(?<![\w.,/])({_NUMBER})\s?({_UNIT})?\Z")

_REACH = 200


@dataclass(frozen=True)
class PrintedNumber:
    """A number and its unit, as printed."""

    text: str
    number: Decimal
    unit: str

    def agrees(self, value: float) -> bool:
        """`value`, in this unit, rounds to the number at the digits it shows; an exact half may go either way."""
        exponent = self.number.as_tuple().exponent
        assert isinstance(exponent, int)
        found = Decimal(repr(value)) * _FACTORS[self.unit]
        half = Decimal(5).scaleb(exponent - 1)
        return abs(self.number - found) <= half * (1 + Decimal("1e-9"))

    def of(self, value: float) -> str:
        """`value` as this figure would have to show it."""
        exponent = self.number.as_tuple().exponent
        assert isinstance(exponent, int)
        found = Decimal(repr(value)) * _FACTORS[self.unit]
        shown = found.quantize(Decimal(1).scaleb(exponent)) if found.adjusted() - exponent < 25 else found
        space = " " if self.unit not in ("", "x", "×") else ""
        return f"{shown}{space}{self.unit}"


@dataclass(frozen=True)
class PrintedShare:
    """So many of so many, as printed: `5/5` or `5 of 5`."""

    text: str
    part: int
    whole: int

    def agrees(self, value: float) -> bool:
        """`value` is this fraction."""
        return self.whole > 0 and abs(value * self.whole - self.part) <= 1e-9 * self.whole


def printed_before(text: str) -> PrintedNumber | PrintedShare | None:
    """The figure that `text` ends with, closing markup and spaces apart; none if it ends with anything else."""
    tail = text[-_REACH:]
    tail = tail[: _CLOSING.search(tail).start()]  # type: ignore[union-attr]
    share = _SHARE.search(tail)
    if share is not None:
        return PrintedShare(share[0], int(share[1]), int(share[2]))
    plain = _PLAIN.search(tail)
    if plain is None:
        return None
    return PrintedNumber(plain[0], Decimal(plain[1].replace(",", "").replace("−", "-")), plain[2] or "")
