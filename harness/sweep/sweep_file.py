"""A sweep as a TOML file: presets, settings, seeds and machines, typed and bounded before anything is made of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from harness.base.errors import UsageError
from harness.base.provenance import LABEL
from reports.records.record import Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.one_line import one_line
from reports.untrusted.toml import TomlError, parse_toml

FILE_LIMIT = 2**18
"""Bytes. A sweep of a thousand seeds has 10 kB."""
DEPTH = 6
"""Tables in tables under `settings`. A preset's deepest key, arms.NAME.drafter.block_size, has four parts."""

Text = Annotated[str, Field(min_length=1, max_length=4096)]


class SweepFile(Record):
    """A grid: every preset with every combination of settings, every seed, on every machine that is named."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")
    presets: tuple[Text, ...] = Field(min_length=1, max_length=100, description="Names or paths, as --preset has them")
    settings: dict[Text, tuple[Text, ...]] = Field({}, max_length=50, description="Values by key, as --set has them")
    seeds: tuple[Annotated[int, Field(ge=0, le=2**31)], ...] = Field((), max_length=10_000)
    machines: tuple[Annotated[str, Field(pattern=rf"^{LABEL}$")], ...] = Field(
        (), max_length=1000, description="What K3_MACHINE calls them; none: every cell once, on whichever is free"
    )


def read_sweep(path: Path) -> SweepFile:
    """The sweep in the file at `path`.

    Raises:
        UsageError: it cannot be read, is too large, no TOML, or a field is not what it should be.
    """
    try:
        data = read_bounded(path)
    except RefusedFileError as error:
        raise UsageError(f"{path}: {error}") from error
    if len(data) > FILE_LIMIT:
        raise UsageError(f"{path}: {len(data)} bytes; a sweep has {FILE_LIMIT} at most")
    try:
        document = parse_toml(data)
    except TomlError as error:
        raise UsageError(f"{path}: no TOML: {one_line(str(error))}") from error
    try:
        settings = dict(_settings(document.get("settings", {}), ()))
        lists = {key: tuple(value) if isinstance(value, list) else value for key, value in document.items()}
        return SweepFile.model_validate(lists | {"settings": settings})
    except ValidationError as error:
        raise UsageError(f"{path}: {describe_invalid(error, SweepFile)}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {one_line(str(error))}") from error


def _settings(table: Any, place: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The keys below `settings`, dotted, each with its values as they are written after `--set key=`."""
    name = ".".join(("settings", *place))
    if not isinstance(table, dict):
        raise ValueError(f"{name}: not a table")
    if len(place) >= DEPTH:
        raise ValueError(f"{name}: no preset has a key of so many parts")
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _settings(value, (*place, key))
        elif isinstance(value, list) and value:
            yield ".".join((*place, key)), tuple(_written(one, f"{name}.{key}") for one in value)
        else:
            raise ValueError(f"{name}.{key}: not a list of values; write {key} = [...]")


def _written(value: Any, name: str) -> str:
    """A value as TOML: what JSON writes of a text, a number, a boolean or a list of those is TOML, too."""
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | bool | int | float) for item in items):
        raise ValueError(f"{name}: values are texts, numbers, booleans, or lists of them")
    return json.dumps(value, ensure_ascii=False)
