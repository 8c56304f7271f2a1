"""Clocks of blocks as whole microseconds, a third of the characters, where they were rounded to them when read."""

from typing import Any

from reports.file_form.form_error import FileFormError

Json = Any

MICROSECONDS = {
    "draft_s": "draft_us",
    "verify_s": "verify_us",
    "extend_s": "extend_us",
    "rollback_s": "rollback_us",
    "seconds": "microseconds",
}
"""Columns of seconds, and what they are called where all of their values are written as whole microseconds."""

SECONDS = {whole: name for name, whole in MICROSECONDS.items()}
PER_SECOND = 1e6
MOST = 2**53


def to_microseconds(name: str, column: list[Json]) -> tuple[str, list[Json]]:
    """The column's name and values in whole microseconds; as they are where one of them is no whole number of those."""
    if name not in MICROSECONDS or not all(type(value) is float and abs(value) * PER_SECOND < MOST for value in column):
        return name, column
    whole = [round(value * PER_SECOND) for value in column]
    exact = all(count / PER_SECOND == value for count, value in zip(whole, column, strict=True))
    return (MICROSECONDS[name], whole) if exact else (name, column)


def to_seconds(columns: dict[str, list[Json]], field: str) -> dict[str, list[Json]]:
    """The columns with all clocks in seconds.

    Raises:
        FileFormError: a count that is no whole number, or a clock that stands there in both units.
    """
    if SECONDS.keys().isdisjoint(columns):
        return columns
    found = {}
    for name, column in columns.items():
        seconds = SECONDS.get(name)
        if seconds in columns:
            raise FileFormError(f"{field}: {name} and {seconds} are one clock in two units")
        if seconds is not None:
            if not all(type(count) is int and abs(count) <= MOST for count in column):
                raise FileFormError(f"{field}.{name}: must hold whole numbers")
            column = [count / PER_SECOND for count in column]
        found[seconds or name] = column
    return found
