"""Spoiling documents, texts and bytes by seed: what nobody thought of, and what somebody would."""

import copy
import json
import random
from typing import Any

Json = Any

STRANGE: tuple[Json, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    2**31,
    2**53,
    10**30,
    -0.0,
    1e-308,
    1e308,
    "",
    "x" * 5000,
    "0",
    "nan",
    "\x1b[2J\x1b[31mred",
    "\u202eesrever",
    "\u0000",
    "a\r\n::error::b",
    "<script>alert(1)</script>",
    "=1+1",
    "../../../../etc/passwd",
    "|` * _ [a](b)",
    [],
    {},
    [[[[1]]]],
    [0] * 300,
    {"a": {"a": {"a": 1}}},
)
"""Values that stand where others are expected."""

RAW = (
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"9" * 5000,
    b'"\\ud800"',
    b"[" * 100,
    b"\xff\xfe",
    b"\x00",
    b"\xef\xbb\xbf",
    b",",
    b"}",
)
"""Bytes that no JSON has there."""


def places(node: Json) -> list[tuple[Json, Any]]:
    """Every dict and list of a document with each key or number of it."""
    found: list[tuple[Json, Any]] = []
    left = [node]
    while left:
        holder = left.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        found += [(holder, key) for key in keys]
        left += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found


MOST_PLACES = 20_000
ANY = ("strange", "strange", "near", "gone", "moved", "misspelt", "again")
FITTING = ("near", "near", "near", "again", "moved")
"""Edits after which a document mostly fits its schema, so that what reads it gets to its rules."""


def spoiled(document: Json, rng: random.Random) -> Json:
    """A copy with one to four edits: another value, a key gone, twice or misspelt, a part put elsewhere."""
    edits = rng.choice((ANY, FITTING))
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 4)):
        found = places(document)
        if not 0 < len(found) < MOST_PLACES:
            break
        holder, key = rng.choice(found)
        edit = rng.choice(edits)
        if edit == "strange":
            holder[key] = copy.deepcopy(rng.choice(STRANGE))  # what is put in may be edited next
        elif edit == "near":
            holder[key] = near(holder[key], rng)
        elif edit == "gone":
            del holder[key]
        elif edit == "moved":
            other = holder if edits is FITTING else rng.choice(found)[0]
            if other:
                holder[key] = copy.deepcopy(rng.choice(list(other.values()) if isinstance(other, dict) else other))
        elif edit == "misspelt" and isinstance(holder, dict):
            holder[f"{key}_"] = holder.pop(key)
        elif edit == "again" and isinstance(holder, list):
            value = holder[key]
            times = 1 if isinstance(value, dict | list) else rng.choice((1, 2, 50))
            holder += [copy.deepcopy(value) for _ in range(times)]
    return document


def near(value: Json, rng: random.Random) -> Json:
    """Another value of the same type, where there is one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-value, -1, 1, 2**20, 2**53))
    if isinstance(value, float):
        return value * rng.choice((0.0, -1.0, 0.5, 1.000001, 1e6, 1e300))
    if isinstance(value, str):
        return value[: rng.randrange(len(value) + 1)] + rng.choice(("", "\x1b[0m", "é", "\n", value))
    return value


def bytes_of(document: Json, rng: random.Random) -> bytes:
    """The document as a file has it; one in four with bytes changed, put in, or cut off."""
    data = json.dumps(document, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5).encode(
        "utf-8", "replace"
    )
    return damaged(data, rng) if rng.random() < 0.25 else data


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The same with one to four damages."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        match rng.choice(("put in", "changed", "cut", "cut out", "twice")):
            case "put in":
                data = data[:at] + rng.choice(RAW) + data[at:]
            case "changed":
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case "cut":
                data = data[:at]
            case "cut out":
                data = data[:at] + data[at + rng.randint(1, 400) :]
            case "twice":
                data = data[:at] + data[max(0, at - 200) :]
    return data
