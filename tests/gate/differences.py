"""Where two JSON documents differ, and one of them with only some of the differences of the other.

A place is written as a path: names of keys; of records in a list their name, arm, or sample and what tells it apart;
a list without such names, or in another order, is one place.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

Json = Any
_ABSENT = object()
_NAMED_BY = (
    ("name",), ("prompt_set", "sample"), ("sample", "repeat"), ("sample", "block"), ("arm",), ("sample",), ("layer",),
    ("id",), ("step",),
)  # fmt: skip


def differences(first: Json, second: Json) -> tuple[str, ...]:
    """Every place in which they differ, in their order."""
    found: list[str] = []
    merged(first, second, lambda place: not found.append(place))
    return tuple(found)


def within(place: str, pattern: str) -> bool:
    """The place is one of the pattern's, or a part of one; `*` stands for anything."""
    return fnmatchcase(place, pattern) or fnmatchcase(place, f"{pattern}/*")


def merged(first: Json, second: Json, takes: Callable[[str], bool], place: str = "") -> Json:
    """`first`, with what `second` has in those differing places that `takes` says yes to."""
    if first == second:
        return first
    if isinstance(first, dict) and isinstance(second, dict):
        return _merged(first, second, takes, place)
    ours, theirs = _named(first), _named(second)
    if ours is not None and theirs is not None and [key for key in ours | theirs if key in theirs] == list(theirs):
        return list(_merged(ours, theirs, takes, place).values())
    return second if takes(place) else first


def _merged(first: dict[str, Json], second: dict[str, Json], takes: Callable[[str], bool], place: str) -> Json:
    keys = dict.fromkeys((*first, *second))
    both = {
        key: merged(first.get(key, _ABSENT), second.get(key, _ABSENT), takes, f"{place}/{key}".lstrip("/"))
        for key in keys
    }
    return {key: value for key, value in both.items() if value is not _ABSENT}


def _named(items: Json) -> dict[str, Json] | None:
    """The records of a list by what names them."""
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return None
    for fields in _NAMED_BY:
        names = [".".join(str(item.get(field)) for field in fields) for item in items]
        if all(field in item for item in items for field in fields) and len(set(names)) == len(names):
            return dict(zip(names, items, strict=True))
    return None
