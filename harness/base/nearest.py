"""Suggestions for a name that nobody knows."""

import difflib
from collections.abc import Iterable


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The most similar choice, upper and lower case alike, or none that is similar."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word[:80].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def unknown(what: str, word: str, choices: Iterable[str]) -> str:
    """That no `what` has this name, and the name that was probably meant, else all there are."""
    near = nearest(word, choices)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(sorted(choices))}"
    return f"{what} {word!r} is unknown; {hint}"
