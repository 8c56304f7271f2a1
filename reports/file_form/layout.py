"""How the JSON of a report is laid out: a row a line, so that a person can read it and a diff shows what changed."""

import json
from typing import Any

Json = Any
SHORT = 100
"""A value of fewer characters stays on the line of its name."""
ROW_DEPTH = 4
"""Levels of objects and lists in the deepest row: a measurement, its speculation, the columns of it, one of them."""


def laid_out(value: Json) -> str:
    """`value` as JSON: broken up, but for rows of a list, lists of plain values, and what is short."""
    return _laid_out(value, "", row=False)


def _laid_out(value: Json, pad: str, *, row: bool) -> str:
    if not _deeper(value, ROW_DEPTH):
        flat = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ": "))
        if row or len(flat) < SHORT or not (isinstance(value, dict) or _deeper(value, 1)):
            return flat
    inner = f"{pad} "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_laid_out(item, inner, row=False)}" for name, item in value.items()]
        opening, closing = "{}"
    else:
        parts = [_laid_out(item, inner, row=True) for item in value]
        opening, closing = "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{pad}{closing}"


def _deeper(value: Json, levels: int) -> bool:
    """There are more levels of objects and lists in it than these."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    if levels == 0 or {dict, list}.isdisjoint(map(type, inner)):
        return levels == 0
    return any(_deeper(item, levels - 1) for item in inner)
