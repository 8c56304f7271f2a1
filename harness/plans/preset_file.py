"""Presets as files: one TOML file each, shipped with K3, typed and bounded before anything loads."""

import tomllib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.plans.kinds import KINDS
from harness.plans.overrides import apply, did_you_mean
from harness.plans.preset import BasePreset, LoadedPreset
from harness.plans.preset_faults import in_flags, in_keys
from reports.records.record import digest_of


def preset_names() -> tuple[str, ...]:
    """Names of the presets shipped with K3, sorted."""
    folder = resources.files("presets")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_preset(name: str, overrides: Sequence[str] = ()) -> LoadedPreset:
    """The shipped preset `name` with `key=value` overrides applied, validated as a whole.

    Raises:
        UsageError: unknown preset or key (the nearest one is named), or a value of the wrong type or range.
    """
    if name not in preset_names():
        raise UsageError(f"no preset named {name!r}{did_you_mean(name, preset_names())}; `k3 presets list` shows all")
    data = resources.files("presets").joinpath(f"{name}.toml").read_bytes()
    document = tomllib.loads(data.decode())
    kind = _kind_of(document, name)
    for override in overrides:
        apply(document, kind, override)
    return LoadedPreset(validate_preset(document, name), digest_of(data), tuple(overrides))


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
    try:
        return _kind_of(document, name).model_validate(_frozen(document))
    except ValidationError as error:
        raise UsageError(f"preset {name}: {in_keys(error, document)}") from error


def _kind_of(document: dict[str, Any], name: str) -> type[BasePreset]:
    kind = document.get("kind")
    if kind not in KINDS:
        raise UsageError(f"preset {name}: kind: {kind!r} is none of {', '.join(KINDS)}")
    return KINDS[str(kind)].preset


def _frozen(value: Any) -> Any:
    """TOML arrays as tuples, which strict records ask for."""
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
