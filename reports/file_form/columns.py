"""Records of a list as columns: the name of a field once, and under it the values of all records."""

from functools import cache
from typing import Any

from reports.file_form.form_error import FileFormError
from reports.file_form.microseconds import to_microseconds, to_seconds
from reports.file_form.room import Room
from reports.records.record import Record

Json = Any


def to_columns(rows: list[dict[str, Json]]) -> dict[str, list[Json]]:
    """One list a field, in the order of the rows; null where a row has no such field."""
    names = dict.fromkeys(name for row in rows for name in row)
    return dict(to_microseconds(name, [row.get(name) for row in rows]) for name in names)


def to_rows(columns: Json, record: type[Record], room: Room, field: str) -> Json:
    """The rows of these columns; what is none (a list of rows, say) is returned as it is, for the records to judge.

    Raises:
        FileFormError: a column that every `record` has is missing, the columns are not of one length, there is no
            `room` for their rows, or clocks are not as `to_seconds` has them.
    """
    if not isinstance(columns, dict) or not all(isinstance(column, list) for column in columns.values()):
        return columns
    columns = to_seconds(columns, field)
    for name in _required(record):
        if name not in columns:
            raise FileFormError(f"{field}: there is no column {name}")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shortest, longest = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        told = f"{shortest} has {lengths[shortest]} values, {longest} {lengths[longest]}"
        raise FileFormError(f"{field}: its columns are not of one length: {told}")
    names = tuple(columns)
    room.take(field, values=min(lengths.values()) * (1 + len(names)))
    if not any(None in column for column in columns.values()):
        return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in zip(*columns.values(), strict=True)
    ]


@cache
def _required(record: type[Record]) -> tuple[str, ...]:
    return tuple(name for name, info in record.model_fields.items() if info.is_required())
