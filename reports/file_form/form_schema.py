"""The JSON Schema of the records, made that of the form they have in a file."""

import json
from typing import Any

from reports.file_form.form import COLUMNS
from reports.file_form.microseconds import MICROSECONDS
from reports.file_form.streams import OF_STREAM
from reports.records.codec_rows import CodecSample, LayerEnergy, LayerError, OracleSample
from reports.records.conduct.replay import ReplayedRow
from reports.records.measurement import Arm, BlockRecord, Measurement, Speculation
from reports.records.record import Record

WHOLE = (Measurement, Speculation, BlockRecord, OracleSample, CodecSample, LayerEnergy, LayerError)
"""What a replayed row is made of, and what that changes where it stands elsewhere."""

Schema = dict[str, Any]
REFERENCE = "#/$defs/"


def in_file_form(schema: Schema) -> Schema:
    """`schema`, of a document that is records all the way down, changed to that of what is written from it."""
    definitions = schema["$defs"]
    _keep_whole(definitions)
    places: dict[type[Record], str] = {}
    for place, record in COLUMNS.items():
        places.setdefault(record, place)  # a record in two places has one definition
    for record, place in places.items():
        rows = _at(schema, definitions, place)
        rows.clear()
        rows["anyOf"] = [{"$ref": f"{REFERENCE}{record.__name__}Columns"}, {"type": "array", "maxItems": 0}]
    for record in places:
        definitions[f"{record.__name__}Columns"] = _columns(definitions.pop(record.__name__))
    row, arm = definitions[Measurement.__name__], definitions[Arm.__name__]
    shared = {name: row["properties"].pop(name) for name in OF_STREAM}
    definitions["Stream"] = {
        "description": "What rows of an arm have in common: a repeat of a prompt emits and counts the same.",
        "type": "object",
        "properties": shared,
        "additionalProperties": False,
    }
    row["properties"]["stream"] = {
        "description": "Its place in the streams of the arm",
        "type": "integer",
        "minimum": 0,
    }
    arm["properties"]["streams"] = {
        "description": "The distinct streams of the arm, in the order of their first rows",
        "type": "array",
        "items": {"$ref": f"{REFERENCE}Stream"},
    }
    return schema


def _keep_whole(definitions: Schema) -> None:
    """Give replays definitions of their own of the rows that stand in them, where no stream is shared."""
    names = [record.__name__ for record in WHOLE]

    def of_their_own(name: str) -> Schema:
        text = json.dumps(definitions[name])
        for other in names:
            text = text.replace(f'"{REFERENCE}{other}"', f'"{REFERENCE}Whole{other}"')
        found: Schema = json.loads(text)
        return found

    copies = {f"Whole{name}": of_their_own(name) for name in names}
    definitions[ReplayedRow.__name__] = of_their_own(ReplayedRow.__name__)
    definitions |= copies


def _columns(row: Schema) -> Schema:
    """The schema of the columns of these rows: one list a field, all of one length."""
    columns = {}
    for name, value in row["properties"].items():
        kept = {key: part for key, part in value.items() if key not in ("default", "title", "description")}
        told = {"description": value["description"]} if "description" in value else {}
        columns[name] = told | {"type": "array", "items": kept}
    clocks = [name for name in columns if name in MICROSECONDS]
    for name in clocks:
        told = {"description": f"`{name}` in whole microseconds, in place of it"}
        columns[MICROSECONDS[name]] = told | {"type": "array", "items": {"type": "integer"}}
    either = [{"oneOf": [{"required": [name]}, {"required": [MICROSECONDS[name]]}]} for name in clocks]
    return {
        "description": f"Rows as columns of one length; null where a row has no such field. {row['description']}",
        "type": "object",
        "properties": columns,
        "required": [name for name in row["required"] if name not in clocks],
        "additionalProperties": False,
        **({"allOf": either} if either else {}),
    }


def _at(node: Schema, definitions: Schema, place: str) -> Schema:
    """The schema of the list at `place`, as in `COLUMNS`."""
    for name in place.split("."):
        within = _present(node, definitions)
        node = within["items"] if name == "*" else within["properties"][name]
    return _present(node, definitions)


def _present(node: Schema, definitions: Schema) -> Schema:
    """The schema of a value that is there: not null, and looked up where it is a reference."""
    (choice,) = (choice for choice in node.get("anyOf", (node,)) if choice.get("type") != "null")
    found: Schema = definitions[choice["$ref"].removeprefix(REFERENCE)] if "$ref" in choice else choice
    return found
