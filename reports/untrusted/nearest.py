"""Suggestions for a name that nobody knows."""

import difflib
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from reports.untrusted.one_line import one_line

_LISTED = 10_000
"""Names of a folder that are looked through."""


def nearest(word: str, choices: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar choice, upper and lower case alike, or none that is similar."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word[:80].lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else None


def unknown(what: str, word: str, choices: Iterable[str]) -> str:
    """That no `what` has this name, and the name that was probably meant, else all there are."""
    near = nearest(word, choices)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(sorted(choices))}"
    return f"{what} {word!r} is unknown; {hint}"


def nearest_path(path: Path) -> Path | None:
    """The path with its first part that is not there replaced by the most similar name beside it, if one is similar."""
    for part in (*reversed(path.parents), path):
        if os.path.lexists(part):
            continue
        try:
            with os.scandir(part.parent) as entries:
                names = [entry.name for entry in islice(entries, _LISTED)]
        except OSError:
            return None
        alike = [name for name in names if nearest(part.stem, [Path(name).stem])]  # `.json` alone makes no likeness
        near = nearest(part.name, alike)
        return part.parent / near / path.relative_to(part) if near is not None else None
    return None


def path_meant(path: Path) -> str:
    """`; did you mean X?` for the nearest path that is there, or nothing."""
    near = nearest_path(path)
    return f"; did you mean {one_line(str(near), 1000)}?" if near is not None and near.exists() else ""
