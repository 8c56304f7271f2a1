"""What an arm's rows have in common, once: a repeat of a prompt emits the same stream and counts the same things."""

from collections.abc import Iterator
from typing import Any

from reports.file_form.form_error import FileFormError
from reports.file_form.json_text import json_bytes
from reports.file_form.room import Room

Json = Any

OF_STREAM = (
    "prompt_digest", "prompt_tokens", "token_ids", "text", "correct", "stop_reason", "decode_tokens", "decode_loop",
    "restoration_active", "restored_positions", "evicted_positions", "kv_bytes_prefill", "kv_bytes_decode",
    "drafter_bytes_prefill", "fallbacks",
)  # fmt: skip
"""Fields of a row that stand in its stream. Times, and what a machine held besides, stay in the row."""


def share_streams(arm: dict[str, Json]) -> dict[str, Json]:
    """The arm with its distinct streams listed, and their numbers in its rows."""
    numbers: dict[bytes, int] = {}
    streams: list[Json] = []

    def shared(row: dict[str, Json]) -> dict[str, Json]:
        stream = {name: row[name] for name in OF_STREAM if name in row}
        if not stream:
            return row
        number = numbers.setdefault(json_bytes(stream), len(streams))
        if number == len(streams):
            streams.append(stream)
        return {"stream": number} | {name: value for name, value in row.items() if name not in stream}

    rows = {"measurements": [shared(row) for row in arm["measurements"]]}
    if "warm_ups" in arm:
        rows["warm_ups"] = [shared(row) for row in arm["warm_ups"]]
    if "paused" in arm:
        rows["paused"] = [paused | {"row": shared(paused["row"])} for paused in arm["paused"]]
    others = {name: value for name, value in arm.items() if name not in rows}
    return others | ({"streams": streams} if streams else {}) | rows


def spread_streams(arm: dict[str, Json], room: Room, field: str) -> None:
    """Put what each row of the arm shares back into the row.

    Raises:
        FileFormError: a stream with a field that is none of its own, or that no row names; a row that names none that
            is listed, or has a field of its stream, too; more than there is `room` for.
    """
    streams, rows = arm.pop("streams"), arm.get("measurements")
    if not isinstance(streams, list) or not isinstance(rows, list):
        raise FileFormError(f"{field}.streams: must be a list, beside a list of measurements")
    texts = [_text_of(stream, f"{field}.streams.{number}") for number, stream in enumerate(streams)]
    named = set()
    for where, row in _rows(arm, field):
        if not isinstance(row, dict) or "stream" not in row:
            continue
        number = row.pop("stream")
        if type(number) is not int or not 0 <= number < len(streams):
            raise FileFormError(f"{where}.stream: is no number of one of the {len(streams)} streams")
        twice = next((name for name in streams[number] if name in row), None)
        if twice is not None:
            raise FileFormError(f"{where}.{twice}: stands in its stream, too")
        room.take(field, values=_values_in(texts[number]), size=len(texts[number]))
        row |= streams[number]
        named.add(number)
    unnamed = next((number for number in range(len(streams)) if number not in named), None)
    if unnamed is not None:
        raise FileFormError(f"{field}.streams.{unnamed}: no row is of this stream")


def _rows(arm: dict[str, Json], field: str) -> Iterator[tuple[str, Json]]:
    """The rows that count, warm-ups, and those that a pause broke, each with its place."""
    for name in ("measurements", "warm_ups"):
        rows = arm.get(name)
        for place, row in enumerate(rows if isinstance(rows, list) else ()):
            yield f"{field}.{name}.{place}", row
    paused = arm.get("paused")
    for place, one in enumerate(paused if isinstance(paused, list) else ()):
        if isinstance(one, dict):
            yield f"{field}.paused.{place}.row", one.get("row")


def _text_of(stream: Json, field: str) -> bytes:
    if not isinstance(stream, dict):
        raise FileFormError(f"{field}: must be an object")
    other = next((name for name in stream if name not in OF_STREAM), None)
    if other is not None:
        raise FileFormError(f"{field}: has a field that is none of a stream; the fields are {', '.join(OF_STREAM)}")
    return json_bytes(stream)


def _values_in(text: bytes) -> int:
    """Values in this JSON text; commas and brackets in its strings are counted, too."""
    return 1 + text.count(b",") + text.count(b"[") + text.count(b"{")
