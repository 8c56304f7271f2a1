"""The manifest of a request: which preset, how far changed, of which commit. Data alone, and every field bounded."""

from typing import Annotated, Literal

from pydantic import Field, ValidationError

from harness.bridge.names import COMMIT, NONCE, PRESET
from harness.plans.preset import BasePreset, ParityPreset, TimedPreset
from reports.records.record import Count, Digest, Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.strict_json import StrictJsonError, parse

MANIFEST = ".k3-bridge/request.json"
MANIFEST_LIMIT = 2**14
"""Bytes. An honest manifest has under 1,000."""
SCHEMA_VERSION: Literal[1] = 1
MODEL_VARIABLE = r"K3_[A-Z0-9_]{1,60}"
"""Variables that may name a model: K3's own, so that no other one of the executing machine can be read through it."""


class RequestError(ValueError):
    """A manifest that is refused; the message is one line with the field."""


class Overrides(Record):
    """What a request may change of a preset, and how far. No path, and no model but one the machine itself names."""

    samples: int | None = Field(None, ge=1, le=50)
    repeats: int | None = Field(None, ge=1, le=50)
    seed: int | None = Field(None, ge=0, le=2**31)
    max_new_tokens: int | None = Field(None, ge=2, le=2048)
    block_size: int | None = Field(None, ge=2, le=64, description="Of every arm that drafts")
    model: str | None = Field(None, pattern=rf"^\$\{{ENV:{MODEL_VARIABLE}\}}$", description="${ENV:K3_...}")

    def settings(self, preset: BasePreset) -> tuple[str, ...]:
        """The same as `key=value` settings of `k3 eval --set`, for this preset."""
        given = self.model_dump(exclude_none=True)
        block_size = given.pop("block_size", None)
        settings = [f"{key}={value}" for key, value in given.items()]
        if block_size is not None:
            settings += [f"{key}={block_size}" for key in _block_sizes(preset)]
        return tuple(settings)


class Request(Record):
    """What is asked of a machine."""

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: Literal["preset", "suite"] = Field("preset", description="What `preset` names")
    preset: Annotated[str, Field(pattern=rf"^{PRESET}$", description="A preset, or a suite of `k3 review`")]
    preset_digest: Digest = Field(description="Of its file")
    overrides: Overrides = Overrides()
    nonce: Annotated[str, Field(pattern=rf"^{NONCE}$")]
    base: Annotated[str, Field(pattern=rf"^{COMMIT}$", description="The commit whose code runs")]
    k3_version: Annotated[str, Field(pattern=r"^[0-9A-Za-z.+_-]{1,64}$", description="Of the requester")]
    rule_set: Count = Field(description="Of the requester's gate")
    minutes: int = Field(ge=1, le=1440, description="After which the run is killed")


def overrides_of(settings: list[str]) -> Overrides:
    """The `--set key=value` of a request.

    Raises:
        RequestError: not key=value, a key that a request cannot change, or a value out of its bounds.
    """
    document: dict[str, object] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key in document:
            raise RequestError(f"--set {setting!r}: give every key once, as key=value")
        document[key] = value if key == "model" else _whole(value)
    try:
        return Overrides.model_validate(document)
    except ValidationError as error:
        keys = ", ".join(Overrides.model_fields)
        raise RequestError(f"--set {describe_invalid(error, Overrides)}; a request can change {keys}") from error


def parse_request(data: bytes) -> Request:
    """The request that a manifest states. Reads nothing else, and starts nothing.

    Raises:
        RequestError: too large, no JSON, a newer schema, an unknown field, or a value out of its bounds.
    """
    if len(data) > MANIFEST_LIMIT:
        raise RequestError(f"{MANIFEST}: {len(data)} bytes; the limit is {MANIFEST_LIMIT}")
    try:
        document = parse(data)
    except StrictJsonError as error:
        raise RequestError(f"{MANIFEST}: {error}") from error
    if document.lines or not isinstance(document.value, dict):
        raise RequestError(f"{MANIFEST}: not one JSON object")
    version = document.value.get("schema_version")
    if type(version) is not int:
        raise RequestError(f"{MANIFEST}: schema_version: not a whole number")
    if version > SCHEMA_VERSION:
        raise RequestError(f"{MANIFEST}: schema_version: {version} is newer than {SCHEMA_VERSION}: update K3 here")
    try:
        return Request.model_validate(document.value)
    except ValidationError as error:
        raise RequestError(f"{MANIFEST}: {describe_invalid(error, Request)}") from error


def _whole(value: str) -> object:
    digits = value.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else value


def _block_sizes(preset: BasePreset) -> list[str]:
    """The settings that hold block sizes."""
    if isinstance(preset, ParityPreset):
        return ["block_size"]
    arms = preset.arms if isinstance(preset, TimedPreset) else ()
    return [f"arms.{arm.name}.drafter.block_size" for arm in arms if arm.drafter is not None]
