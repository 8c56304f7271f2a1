"""JSON from strangers: parsed strictly, in bounded memory and depth, and never by a recursive scan of our own."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

from reports.one_line import one_line

Json = Any
"""What `json` yields: dict, list, str, int, float, bool or None."""

MAX_DEPTH = 64
MAX_VALUES = 2_000_000
"""Values in a document; bounds the memory that parsing takes (64 MiB of `[[],[],...` would become gigabytes)."""

MAX_INTEGER = 2**53
"""Beyond it an integer is not the same number in every reader."""

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(code for code in range(256) if code not in _BRACKETS)
_UNUSUAL_NUMBER = re.compile(rb"[0-9]{16}|[0-9][eE]")
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
        StrictJsonError: not UTF-8, not JSON, data after the document, a key twice in one object, NaN or an infinity
            (also 1e999), an integer beyond 2**53, a lone surrogate, nesting over `MAX_DEPTH`, over `MAX_VALUES`.
    """
    data = data.removeprefix(BYTE_ORDER_MARK)
    bare = _without_strings(data)
    _check_shape(bare)
    decoder = _CAREFUL if _UNUSUAL_NUMBER.search(bare) else _PLAIN
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not UTF-8 (byte {error.start})") from error
    document = _parse_text(text, decoder)
    if _SURROGATE_ESCAPE.search(data):
        _check_surrogates(document.value)
    return document


def _parse_text(text: str, decoder: json.JSONDecoder) -> Document:
    start = _skip_space(text, 0)
    value, end = _decode(text, start, decoder, "")
    rest = _skip_space(text, end)
    if rest == len(text):
        return Document(value)
    if "\n" in text[start:end] or "\n" not in text[end:rest]:
        raise StrictJsonError(f"not JSON: data after the end of the document (character {rest})")
    lines = enumerate(text.split("\n"), start=1)
    return Document([_parse_line(line, number, decoder) for number, line in lines if line.strip()], lines=True)


def _parse_line(line: str, number: int, decoder: json.JSONDecoder) -> Json:
    where = f"line {number}: "
    value, end = _decode(line, _skip_space(line, 0), decoder, where)
    if _skip_space(line, end) != len(line):
        raise StrictJsonError(f"not JSON: {where}data after the end of the document")
    return value


def _decode(text: str, start: int, decoder: json.JSONDecoder, where: str) -> tuple[Json, int]:
    try:
        return decoder.raw_decode(text, start)
    except StrictJsonError as error:
        raise StrictJsonError(f"{where}{error}") from error
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not JSON: {where}{error.msg} (character {error.pos})") from error
    except RecursionError as error:
        raise StrictJsonError(f"{where}nested deeper than {MAX_DEPTH}") from error


def _skip_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space is not None else start


def _without_strings(data: bytes) -> bytes:
    """`data` without its string literals; exact wherever it is JSON, and what is not is refused by the parser."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2])


def _check_shape(bare: bytes) -> None:
    values = 1 + bare.count(b",") + bare.count(b"[") + bare.count(b"{")
    if values > MAX_VALUES:
        raise StrictJsonError(f"more than {MAX_VALUES} values")
    brackets = bare.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        # Innermost pairs vanish, so each round takes one level off, in C and without recursion.
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if inner == brackets:
            break
        brackets = inner
    if brackets:
        deep = len(brackets) > MAX_DEPTH
        raise StrictJsonError(f"nested deeper than {MAX_DEPTH}" if deep else "not JSON: brackets do not match")


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


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > MAX_INTEGER:
        raise StrictJsonError(f"the integer {one_line(digits, 24)} is beyond 2**53")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise StrictJsonError(f"the number {one_line(digits, 24)} is too large")
    return number


_PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_integer, parse_float=_finite
)
