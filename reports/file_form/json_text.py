"""JSON values as the bytes that the records are validated from; several times as fast as `json.dumps`."""

from typing import Any

from pydantic import ConfigDict, TypeAdapter

_ANY: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants"))


def json_bytes(value: Any) -> bytes:
    """The JSON of `value`: every number comes back as it was, and an infinite one is left for the records to refuse."""
    return _ANY.dump_json(value)
