"""Presets as files: one TOML file each, that ships or is the user's own, typed and bounded before anything loads."""

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.plans.kinds import KINDS
from harness.plans.overrides import apply, did_you_mean
from harness.plans.preset import BasePreset, LoadedPreset
from harness.plans.preset_faults import in_flags, in_keys
from reports.records.record import digest_of
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.one_line import one_line
from reports.untrusted.toml import TomlError, parse_toml

PRESET_LIMIT = 2**20
"""Bytes of a preset of one's own. The largest that ships has 4 kB."""


def preset_names() -> tuple[str, ...]:
    """Names of the presets shipped with K3, sorted."""
    folder = resources.files("presets")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_preset(name: str, overrides: Sequence[str] = ()) -> LoadedPreset:
    """A shipped preset by its name, or one of the user's by the path of its file, with `key=value` overrides applied.

    Raises:
        UsageError: unknown preset or key (the nearest one is named), a file that is no preset, an own preset under a
            shipped one's name, or a value of the wrong type or range.
    """
    data = read_preset(name)
    preset = _preset_of(data, name, overrides)
    if is_path(name) and preset.name in preset_names() and data != read_preset(preset.name):
        raise UsageError(f"{name}: name: {preset.name!r} is a preset that ships with K3: give yours a name of its own")
    return LoadedPreset(preset, digest_of(data), tuple(overrides))


def load_preset_again(name: str, digest: str, overrides: Sequence[str], own: Path | None = None) -> LoadedPreset:
    """The preset of this name whose file (or, made of flags, whose JSON) has this digest, with the overrides applied:
    one that ships or shipped, else the file `own`. No path is taken from `name` or `overrides`.

    Raises:
        UsageError: there is none, `own` has another digest, or an override does not fit.
    """
    data = read_preset(f"./{own}" if own is not None and not own.is_absolute() else str(own)) if own else None
    if data is None:
        data = next((found for found in every_preset(name) if digest_of(found) == digest), None)
    if data is None:
        raise UsageError(f"preset {one_line(name, 60)} of digest {digest[:19]} does not ship: name its file (--preset)")
    preset = _preset_of(data, name, overrides)
    if digest not in (digest_of(data), digest_of(preset.model_dump_json().encode())):
        raise UsageError(f"{own}: is not the preset of the report, whose digest is {digest[:19]}")
    return LoadedPreset(preset, digest, tuple(overrides))


def every_preset(name: str | None = None) -> Iterator[bytes]:
    """The files of all presets that ship, the superseded ones (`NAME@` and the start of the digest) too, or of one
    name."""
    folder = resources.files("presets")
    for file in (*folder.iterdir(), *folder.joinpath("superseded").iterdir()):
        if file.name.endswith(".toml") and name in (None, file.name.removesuffix(".toml").partition("@")[0]):
            yield file.read_bytes()


def _preset_of(data: bytes, name: str, overrides: Sequence[str]) -> BasePreset:
    document = _document(data, name)
    kind = _kind_of(document, name)
    if overrides:
        validate_preset(document, name)  # so that overrides find arms and tables where they look for them
    for override in overrides:
        apply(document, kind, override)
    return validate_preset(document, name)


def read_preset(name: str) -> bytes:
    """The file of the preset with this name or path.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    if is_path(name):
        return read_own("preset", name)
    if name not in preset_names():
        own = f"{name}.toml"
        there = f"; a file of yours is named with its ending: {own}" if Path(own).is_file() else ""
        hint = there or did_you_mean(name, preset_names()) or "; `k3 presets list` shows all"
        raise UsageError(f"no preset named {name!r}{hint}")
    return resources.files("presets").joinpath(f"{name}.toml").read_bytes()


def read_own(what: str, name: str) -> bytes:
    """A file of the user's, of a preset or of a suite (`what`), by its path.

    Raises:
        UsageError: it cannot be read, or is too large.
    """
    try:
        data = read_bounded(Path(name).expanduser())
    except RefusedFileError as error:
        raise UsageError(f"{what} {name}: {error}") from error
    if len(data) > PRESET_LIMIT:
        raise UsageError(f"{what} {name}: over {PRESET_LIMIT >> 20} MB, which no {what} is")
    return data


def is_path(name: str) -> bool:
    """Names of presets have neither a slash nor a dot."""
    return "/" in name or name.endswith(".toml")


def _document(data: bytes, name: str) -> dict[str, Any]:
    try:
        return parse_toml(data)
    except TomlError as error:
        raise UsageError(f"preset {name}: no TOML: {one_line(str(error))}") from error


def preset_of_flags(document: dict[str, Any]) -> LoadedPreset:
    """A preset that a command made of its flags; its digest is that of its own JSON.

    Raises:
        UsageError: a value out of range.
    """
    try:
        preset = _kind_of(document, str(document["name"])).model_validate(_frozen(document))
    except ValidationError as error:
        raise UsageError(in_flags(error)) from error
    return LoadedPreset(preset, digest_of(preset.model_dump_json().encode()), ())


def validate_preset(document: dict[str, Any], name: str) -> BasePreset:
    """Turn a TOML document into a preset of its kind.

    Raises:
        UsageError: naming the field and what is wrong with it.
    """
    kind = _kind_of(document, name)
    try:
        return kind.model_validate(_frozen(document))
    except ValidationError as error:
        raise UsageError(f"preset {name}: {in_keys(error, document, kind)}") from error


def _kind_of(document: dict[str, Any], name: str) -> type[BasePreset]:
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"preset {name}: kind: {kind!r} is none of {', '.join(KINDS)}")
    return KINDS[kind].preset


def _frozen(value: Any) -> Any:
    """TOML arrays as tuples, which strict records ask for."""
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
