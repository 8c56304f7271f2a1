"""Between a report's document (records all the way down) and the document that stands in its file."""

from collections.abc import Iterator
from typing import Any

from reports.file_form.columns import to_columns, to_rows
from reports.file_form.room import Room
from reports.file_form.streams import share_streams, spread_streams
from reports.records.codec_rows import LayerEnergy, LayerError
from reports.records.kv_memory import LayerMemory
from reports.records.measurement import BlockRecord
from reports.records.plan import Run
from reports.records.record import Record

Json = Any

COLUMNS: dict[str, type[Record]] = {
    "plan.order": Run,
    "arms.*.measurements.*.speculation.rounds": BlockRecord,
    "arms.*.warm_ups.*.speculation.rounds": BlockRecord,
    "arms.*.paused.*.row.speculation.rounds": BlockRecord,
    "memory.arms.*.layers": LayerMemory,
    "kv_quant.oracle.*.energies": LayerEnergy,
    "kv_quant.arms.*.samples.*.layers": LayerError,
    "kv_quant.paused.*.oracle.energies": LayerEnergy,
    "kv_quant.paused.*.codecs.*.row.layers": LayerError,
}
"""Lists that are written as columns, by their places (`*`: each of a list), with the record that they hold."""


def to_file_form(document: dict[str, Json]) -> dict[str, Json]:
    """What is written; `document` is used up."""
    for place in COLUMNS:
        for holder, key, _ in _places(document, place):
            holder[key] = to_columns(holder[key]) if holder[key] else []
    if "arms" in document:
        document["arms"] = [share_streams(arm) for arm in document["arms"]]
    return document


def from_file_form(document: Json) -> bool:
    """Make records again of what was read, in place; false if there was nothing to do, as in files of old.

    Raises:
        reports.file_form.form_error.FileFormError: columns or streams that do not fit together.
    """
    changed, room = False, Room()
    for place, record in COLUMNS.items():
        for holder, key, field in _places(document, place):
            rows = to_rows(holder[key], record, room, field)
            changed = changed or rows is not holder[key]
            holder[key] = rows
    for _, number, field in _places(document, "arms.*"):
        arm = document["arms"][number]
        if isinstance(arm, dict) and "streams" in arm:
            spread_streams(arm, room, field)
            changed = True
    return changed


def _places(node: Json, place: str, above: str = "") -> Iterator[tuple[Json, Any, str]]:
    """Every dict or list that has the place, the key or number of it there, and its name in full."""
    head, _, rest = place.partition(".")
    if head == "*":
        keys: Iterator[Any] = iter(range(len(node)) if isinstance(node, list) else ())
    else:
        keys = iter((head,) if isinstance(node, dict) and head in node else ())
    for key in keys:
        field = f"{above}{key}"
        if rest:
            yield from _places(node[key], rest, f"{field}.")
        else:
            yield node, key, field
