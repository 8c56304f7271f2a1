"""What every importer of a foreign format is made of."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from reports.content_digest import values_digest
from reports.records.provenance import ModelInfo, ModelRole
from reports.report import Imported, Report
from reports.untrusted.faults import describe_invalid
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import Json

EXACT = 2**53
"""From here on not every whole number is a float."""

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


class ForeignFormatError(ValueError):
    """A file of a known format that cannot be imported; the message is one line that names the field."""


class Foreign(BaseModel):
    """The part of a foreign file that an importer reads: strict types, no NaN; what it does not know is ignored."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="ignore", allow_inf_nan=False, str_max_length=4_000_000, protected_namespaces=()
    )


@dataclass(frozen=True)
class Source:
    """A parsed file: one value, (`lines`) the objects of a JSONL file, or (`text`) what is no JSON; `file_digest` is of
    its bytes.

    `no_number` says where a NaN or an infinity stood; each is a null in `value`, a figure that is missing.
    """

    value: Json
    lines: bool
    file_digest: str
    no_number: str | None = None
    text: bool = False

    @cached_property
    def digest(self) -> str:
        """Of the values: a copy that is laid out differently is the same file."""
        return values_digest(self.value)


@dataclass(frozen=True)
class Importer:
    """One foreign format.

    `recognises` looks at a few tell-tale fields only and never raises, so that a damaged file is refused by `load`
    and not mistaken for something else. `load` raises `ForeignFormatError` and invents nothing: what the format does
    not record stays `None`. `versioned`: the format carries `schema_version`, and below 2 it is legacy.
    """

    name: str
    recognises: Callable[[Source], bool]
    load: Callable[[Source], Report]
    versioned: bool = False


def of_kind(*kinds: str) -> Callable[[Source], bool]:
    """Recognises a file that states one of these kinds."""
    return lambda source: isinstance(source.value, dict) and source.value.get("kind") in kinds


F = TypeVar("F", bound=Foreign)


def parse_foreign(shape: type[F], value: Json) -> F:
    """`value` as a `shape`; a count that was written as a float, as tables with gaps are, is a count all the same.

    Raises:
        ForeignFormatError: a field is missing or of the wrong type.
    """
    try:
        return shape.model_validate(_counted(value))
    except ValidationError as error:
        raise ForeignFormatError(describe_invalid(error)) from error


def _counted(value: Json) -> Json:
    """The value with every float that is a whole number as that number; a float field takes it, too."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < EXACT else value
    if isinstance(value, dict):
        return {key: _counted(one) for key, one in value.items()}
    return [_counted(one) for one in value] if isinstance(value, list) else value


def parse_element(shape: type[F], place: int, value: Json) -> F:
    """An element of a list as a `shape`.

    Raises:
        ForeignFormatError: as `parse_foreign`, with the place of the element.
    """
    try:
        return parse_foreign(shape, value)
    except ForeignFormatError as error:
        raise ForeignFormatError(f"{place}.{error}") from error


def mark(
    importer: str, source: Source, notes: Iterable[str], kind: str | None = None, version: int | None = None
) -> Imported:
    """The record that marks a report as imported and unverified."""
    return Imported(
        importer=importer,
        original_kind=one_line(kind, 200) if kind else None,
        original_schema_version=version,
        original_digest=source.digest,
        file_digest=source.file_digest,
        notes=tuple(one_line(note) for note in (*notes, *_missing(source))),
    )


def _missing(source: Source) -> Iterator[str]:
    if source.no_number is not None:
        yield f"dropped, as figures that are missing: {source.no_number}, and all like it"


def report_id(importer: str, source: Source) -> str:
    """The same file always becomes the same report."""
    return f"{importer}-{source.digest.removeprefix('sha256:')[:16]}"


def model_id(stated: str) -> str:
    """A hub id as it is; of a path the last part only, since folders name people and machines."""
    if _HUB_ID.fullmatch(stated):
        return one_line(stated, 200)
    parts = [part for part in re.split(r"[/\\]", stated) if part not in ("", ".", "..", "~")]
    return one_line(parts[-1], 200) if parts else "unnamed"


def models_of(stated: Mapping[ModelRole, str | None]) -> tuple[ModelInfo, ...]:
    """The models that a file names, by role; those that it leaves out are left out."""
    return tuple(ModelInfo(role=role, id=model_id(name)) for role, name in stated.items() if name is not None)


def distinct(labels: Iterable[str]) -> list[str]:
    """Names of arms: the labels, each numbered from the second time that it stands there."""
    seen: Counter[str] = Counter()
    used: set[str] = set()
    names = []
    for label in labels:
        name = first = one_line(label, 180) or "unnamed"
        number = 1 + seen[first]
        while name in used:
            number += 1
            name = f"{first}#{number}"
        seen[first] = number - 1
        used.add(name)
        names.append(name)
    return names


def require(condition: bool, message: str) -> None:
    """Refuse a file that contradicts itself.

    Raises:
        ForeignFormatError: `condition` does not hold.
    """
    if not condition:
        raise ForeignFormatError(one_line(message))
