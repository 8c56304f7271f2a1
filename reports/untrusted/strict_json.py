"""JSON from strangers: parsed strictly, in bounded memory and depth, and never by a recursive scan of our own."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from reports.untrusted.one_line import one_line

Json = Any
"""What `json` yields: dict, list, str, int, float, bool or None."""

MAX_DEPTH = 64
MAX_VALUES = 2_000_000
"""Values in a document; bounds the memory that parsing takes (64 MiB of `[[],[],...` would become gigabytes)."""
MAX_OBJECTS = 200_000
"""Objects among them: each becomes a record, which takes a hundred times the memory of a number."""

_NO_SHAPE = bytes(code for code in range(256) if code not in b'[]{},"')
_STRING = re.compile(rb'"[^"]*"')
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_FIRST_BRACKET = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_SPACE = re.compile(r"[ \t\n\r]*")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class StrictJsonError(ValueError):
    """Bytes that are no acceptable JSON; the message is one line."""


@dataclass(frozen=True)
class JsonDocument:
    """One JSON value, or (`lines`) the list of objects of a JSONL file.

    `no_number` says where the first NaN or infinity stood, if there was one; each of them was read as null.
    """

    value: Json
    lines: bool = False
    no_number: str | None = None


def parse(data: bytes) -> JsonDocument:
    """Parse a JSON document, or JSON Lines where the first line is a whole document and more follow.

    A UTF-8 byte order mark is skipped.

    Raises:
        StrictJsonError: not UTF-8, not JSON, data after the document, a key twice in one object, NaN or Infinity, a
            lone surrogate, nesting over `MAX_DEPTH`, over `MAX_VALUES` or `MAX_OBJECTS`. Numbers out of range (1e999,
            integers beyond 2**53) are refused by the records, which can name the field.
    """
    document = parse_foreign_numbers(data)
    if document.no_number is not None:
        raise StrictJsonError(document.no_number)
    return document


def parse_foreign_numbers(data: bytes) -> JsonDocument:
    """The same of a file that another tool may have written, where NaN and Infinity are figures that are missing.

    Raises:
        StrictJsonError: as `parse`, but for NaN and Infinity.
    """
    data = data.removeprefix(BYTE_ORDER_MARK)
    _check_text(data)
    shape = _shape(data, MAX_VALUES)
    _check_shape(shape, MAX_VALUES)
    if shape.count(b"{") > MAX_OBJECTS:
        raise StrictJsonError(f"more than {MAX_OBJECTS} objects")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not UTF-8 (byte {error.start})") from error
    document = _Parser().document(text)
    if b"\\u" in data and _SURROGATE_ESCAPE.search(data):
        _check_surrogates(document.value)
    return document


def _check_text(data: bytes) -> None:
    """What a reader can do about a file that is no JSON because of how it was written."""
    if not data.strip():
        raise StrictJsonError("not JSON: the file is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise StrictJsonError("not UTF-8 but UTF-16, as PowerShell's > writes it; save it as UTF-8")
    if data.startswith(b"\x1f\x8b"):
        raise StrictJsonError("not JSON but gzip; unpack it first")


class _Parser:
    """Parses one text, and remembers the first number in it that is none."""

    def __init__(self) -> None:
        self._where = ""
        self._no_number: str | None = None
        self._decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=self._constant)

    def document(self, text: str) -> JsonDocument:
        start = _skip_space(text, 0)
        value, end = self._decode(text, start, "")
        rest = _skip_space(text, end)
        if rest == len(text):
            return JsonDocument(value, no_number=self._no_number)
        if "\n" in text[start:end] or "\n" not in text[end:rest]:
            line = 1 + text.count("\n", 0, rest)
            raise StrictJsonError(f"not JSON: data after the end of the document, in line {line}")
        if text.count("\n") > MAX_VALUES:
            raise StrictJsonError(f"more than {MAX_VALUES} lines")
        self._no_number = None  # the first line is read again, as one of many
        lines = enumerate(text.split("\n"), start=1)
        values = [self._line(line, number) for number, line in lines if line.strip()]
        return JsonDocument(values, lines=True, no_number=self._no_number)

    def _line(self, line: str, number: int) -> Json:
        where = f"line {number}: "
        value, end = self._decode(line, _skip_space(line, 0), where)
        if _skip_space(line, end) != len(line):
            raise StrictJsonError(f"not JSON: {where}data after the end of the document")
        return value

    def _decode(self, text: str, start: int, where: str) -> tuple[Json, int]:
        self._where = where
        try:
            return self._decoder.raw_decode(text, start)
        except StrictJsonError as error:
            raise StrictJsonError(f"{where}{error}") from error
        except json.JSONDecodeError as error:
            if not where and error.pos == start:
                raise StrictJsonError(f"not JSON: {_instead(text, start)}") from error
            one_line_only = where or "\n" not in text.strip()  # whose number, if any, is told by who read it
            line = "" if one_line_only else f"line {error.lineno}, "
            raise StrictJsonError(f"not JSON: {where}{error.msg} ({line}column {error.colno})") from error
        except RecursionError as error:
            raise StrictJsonError(f"{where}nested deeper than {MAX_DEPTH}") from error
        except ValueError as error:  # more digits than Python turns into an integer
            raise StrictJsonError(f"{where}an integer of thousands of digits") from error

    def _constant(self, name: str) -> None:
        self._no_number = self._no_number or f"{self._where}{name} is not a JSON number"


def _instead(text: str, start: int) -> str:
    """What a file begins with that does not begin as JSON: where that begins, if it does."""
    bracket = _FIRST_BRACKET.search(text, start)
    if bracket is None:
        return f"it is text, and begins with {one_line(text[start:].partition(chr(10))[0], 30)!r}"
    return f"text before the JSON, which begins in line {1 + text.count(chr(10), 0, bracket.start())}"


def _skip_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space is not None else start


def check_shape(data: bytes, max_values: int) -> None:
    """See that a document is neither too deep nor of too many values, without parsing it.

    Raises:
        StrictJsonError: it is, or its brackets do not match.
    """
    _check_shape(_shape(data, max_values), max_values)


def _shape(data: bytes, max_values: int) -> bytes:
    """The brackets and commas of `data` that stand in no string; exact wherever it is JSON, and what is not is refused
    by the parser."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    shape = data.translate(None, _NO_SHAPE)
    if shape.count(b'"') > 4 * max_values:  # a value is at most two strings, its key and itself
        raise StrictJsonError(f"more than {max_values} values")
    shape = shape.replace(b'""', b"")  # most strings; two that touch become one, since what parted them is gone
    return _STRING.sub(b"", shape) if b'"' in shape else shape


def values_in(data: bytes) -> int:
    """How many values a document has at most, counted without parsing it.

    Raises:
        StrictJsonError: far more than `MAX_VALUES`.
    """
    return _values(_shape(data, MAX_VALUES))


def _values(shape: bytes) -> int:
    return 1 + shape.count(b",") + shape.count(b"[") + shape.count(b"{")


def _check_shape(shape: bytes, max_values: int) -> None:
    if _values(shape) > max_values:
        raise StrictJsonError(f"more than {max_values} values")
    brackets = shape.translate(None, b",")
    for _ in range(MAX_DEPTH):
        # Innermost pairs vanish, so each round takes one level off, in C and without recursion.
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if inner == brackets:
            break
        brackets = inner
    else:
        if brackets:
            raise StrictJsonError(f"nested deeper than {MAX_DEPTH}")
    if len(brackets) > MAX_DEPTH:  # fewer that do not match are left to the parser, which says where
        raise StrictJsonError("not JSON: brackets do not match")


def _check_surrogates(value: Json) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise StrictJsonError("a lone surrogate in a string") from error


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise StrictJsonError(f"the key '{one_line(twice, 80)}' stands twice in one object")
    return result
