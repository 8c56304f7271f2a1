"""JSON pointers (RFC 6901): from a document and a path in it to the one value there."""

from collections.abc import Sequence
from typing import Any

Json = Any


class DanglingError(LookupError):
    """Nothing stands where the pointer points; the message is one line."""


def steps(pointer: str) -> tuple[str, ...]:
    """The reference tokens of `pointer`, unescaped.

    Raises:
        DanglingError: the pointer is not empty and does not begin with `/`.
    """
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise DanglingError(f"{pointer} is no JSON pointer; it must begin with /")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def resolve(document: Json, pointer: str) -> Json:
    """The value at `pointer` in `document`; beyond the RFC, what has a `name` in a list may be pointed to by it.

    Raises:
        DanglingError: a key is missing, an index is out of range or not written as one, or a value has no parts.
    """
    value = document
    for step in steps(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list | tuple) and len(named := _named(value, step)) == 1:
            value = named[0]
        elif isinstance(value, list | tuple) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise DanglingError(f"{pointer} dangles: there is no '{step}'")
    return value


def _named(values: Sequence[Json], name: str) -> list[Json]:
    return [value for value in values if isinstance(value, dict) and value.get("name") == name]


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) <= 9 and (step == "0" or step[0] != "0")
