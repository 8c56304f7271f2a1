"""The median, without the 5 ms that importing `statistics` takes before the first one is asked for."""

from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    """Of at least one value, as `statistics.median` gives it."""
    from statistics import median as of_values

    return of_values(values)
