"""What is wrong with a preset, told in the words its author used: the keys of its file, or the flags of a command."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from reports.untrusted.faults import fault_words
from reports.untrusted.one_line import one_line

_TABLES = ("workload", "drafter", "candidate", "reference")
"""Fields that are tables; flags are named after what is in them."""

_OF_KINDS = ("drafter", "candidate", "reference")
"""Tables that begin with a `kind`."""

_FLAGS = {"drafter.model": "--drafter-model", "drafter.kind": "--drafter", "reference.dtype": "--reference-dtype"}
"""Flags that are not named after their field alone."""

Place = tuple[int | str, ...]


def in_keys(error: ValidationError, document: Mapping[str, Any], model: type[BaseModel]) -> str:
    """The first fault as `key: what is wrong`, with an arm under its name, and the number of others."""
    return _told(error, lambda place, _: _key(place, document), model, _of_table)


def in_flags(error: ValidationError) -> str:
    """The same with the flag and its value; a flag that is used for several arms is one fault."""
    return _told(error, _flag, None, fault_words)


def _of_table(fault: Any, model: type[BaseModel] | None) -> str:
    """What is wrong; of a word that stands where a table belongs, the form that is meant."""
    field, given = fault["loc"][-1] if fault["loc"] else "", fault["input"]
    if fault["type"] not in ("model_type", "model_attributes_type") or not isinstance(given, str):
        return fault_words(fault, model)
    form = f"{field} = {{ kind = {json.dumps(given)} }}" if field in _OF_KINDS else f"[{field}] and its keys below"
    return f"is a table, not text: {form}"


def _told(
    error: ValidationError,
    name: Callable[[Place, object], str],
    model: type[BaseModel] | None,
    words: Callable[[Any, type[BaseModel] | None], str],
) -> str:
    faults: dict[str, str] = {}
    found = error.errors(include_url=False)
    for fault in found:
        within = [other["loc"] for other in found if len(other["loc"]) > len(fault["loc"])]
        if fault["loc"] and any(place[: len(fault["loc"])] == fault["loc"] for place in within):
            continue  # a list whose items were refused is then called too short
        faults.setdefault(name(fault["loc"], fault["input"]), words(fault, model))
    first, message = next(iter(faults.items()))
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return one_line(f"{first}: {message}" if first else message) + more


def _key(place: Place, document: Mapping[str, Any]) -> str:
    parts = list(place)
    if len(parts) > 1 and parts[0] == "arms" and isinstance(parts[1], int):
        arm = document["arms"][parts[1]]
        parts[1] = str(arm["name"]) if isinstance(arm, Mapping) and "name" in arm else parts[1]
    return ".".join(map(str, parts))


def _flag(place: Place, value: object) -> str:
    parts = [str(part) for part in place]
    if parts[:1] == ["arms"]:
        parts = parts[2:]
    if not parts:
        return ""  # several fields of an arm together, which the message names
    field = next((part for part in parts if part not in _TABLES), parts[-1])
    flag = _FLAGS.get(".".join(parts[:2])) or f"--{field.replace('_', '-')}"
    return f"{flag} {value}" if isinstance(value, int | float | str) else flag
