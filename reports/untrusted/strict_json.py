"""JSON from strangers: parsed strictly, in bounded memory and depth, and never by a recursive scan of our own."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

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
_SPACE = re.compile(r"[ \t\n\r]*")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class StrictJsonError(ValueError):
    """Bytes that are no acceptable JSON; the message is one line."""


@dataclass(frozen=True)
class Document:
    """One JSON value, or (`lines`) the list of objects of a JSONL file."""

    value: Json
    lines: bool = False


def parse(data: bytes) -> Document:
    """Parse a JSON document, or JSON Lines where the first line is a whole document and more follow.

    A UTF-8 byte order mark is skipped.

    Raises:
        StrictJsonError: not UTF-8, not JSON, data after the document, a key twice in one object, NaN or Infinity, a
            lone surrogate, nesting over `MAX_DEPTH`, over `MAX_VALUES` or `MAX_OBJECTS`. Numbers out of range (1e999,
            integers beyond 2**53) are refused by the records, which can name the field.
    """
    data = data.removeprefix(BYTE_ORDER_MARK)
    shape = _shape(data, MAX_VALUES)
    _check_shape(shape, MAX_VALUES)
    if shape.count(b"{") > MAX_OBJECTS:
        raise StrictJsonError(f"more than {MAX_OBJECTS} objects")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not UTF-8 (byte {error.start})") from error
    document = _parse_text(text)
    if b"\\u" in data and _SURROGATE_ESCAPE.search(data):
        _check_surrogates(document.value)
    return document


def _parse_text(text: str) -> Document:
    start = _skip_space(text, 0)
    value, end = _decode(text, start, "")
    rest = _skip_space(text, end)
    if rest == len(text):
        return Document(value)
    if "\n" in text[start:end] or "\n" not in text[end:rest]:
        raise StrictJsonError(f"not JSON: data after the end of the document (character {rest})")
    lines = enumerate(text.split("\n"), start=1)
    return Document([_parse_line(line, number) for number, line in lines if line.strip()], lines=True)


def _parse_line(line: str, number: int) -> Json:
    where = f"line {number}: "
    value, end = _decode(line, _skip_space(line, 0), where)
    if _skip_space(line, end) != len(line):
        raise StrictJsonError(f"not JSON: {where}data after the end of the document")
    return value


def _decode(text: str, start: int, where: str) -> tuple[Json, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except StrictJsonError as error:
        raise StrictJsonError(f"{where}{error}") from error
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not JSON: {where}{error.msg} (character {error.pos})") from error
    except RecursionError as error:
        raise StrictJsonError(f"{where}nested deeper than {MAX_DEPTH}") from error
    except ValueError as error:  # more digits than Python turns into an integer
        raise StrictJsonError(f"{where}an integer of thousands of digits") from error


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


def _no_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
