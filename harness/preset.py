"""Presets: one TOML file a preset, typed and bounded; `--set` overrides are checked before anything loads."""

import difflib
import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from harness.errors import UsageError
from reports.record import Record
from reports.report import describe_invalid

ArmName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
RESERVED_ARMS = ("oracle", "oracle_again", "needle_free")
"""Arms every run of their kind has; the plan adds them, a preset cannot leave them out."""


class ArmSpec(Record):
    """One arm beside the oracle. `exact_layers`: layer numbers, or a layer type, whose own K/V are all kept."""

    name: ArmName
    role: Literal["sut", "control", "peer"]
    engine: Literal["ar", "native-baseline", "incremental"]
    label: str | None = Field(None, max_length=100, description="What the arm is presented as")
    restoration: Literal["none", "identity", "ablate"] = "none"
    exact_layers: Literal["none", "full_attention", "sliding_attention"] | tuple[int, ...] = "none"
    sink: int = Field(4, ge=0, le=4096)
    window: int = Field(64, ge=1, le=65536)
    eviction: Literal["strict", "after"] = "strict"


class NiahSpec(Record):
    """The haystack."""

    lines: int = Field(70, ge=5, le=2000, description="Mean haystack size in lines")
    prompt_style: Literal["auto", "chat", "completion"] = "auto"


class Preset(Record):
    """Everything a run needs to be told."""

    name: ArmName
    title: str = Field(max_length=200)
    kind: Literal["niah"]
    model: str = Field(min_length=1, max_length=500, description="A name of `k3 models list`, a folder or a hub id")
    samples: int = Field(5, ge=1, le=1000)
    repeats: int = Field(3, ge=1, le=50)
    seed: int = Field(42, ge=0, le=2**31)
    max_new_tokens: int = Field(16, ge=2, le=4096)
    prefill_chunk: int = Field(512, ge=1, le=8192)
    ignore_turn_stop: bool = False
    workload: NiahSpec = NiahSpec()
    arms: tuple[ArmSpec, ...] = Field(min_length=1, max_length=20)


@dataclass(frozen=True)
class LoadedPreset:
    """A preset after overrides, and where it came from."""

    preset: Preset
    digest: str
    overrides: tuple[str, ...]


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
        raise UsageError(f"no preset named {name!r}{nearest(name, preset_names())}; `k3 presets list` shows all")
    data = resources.files("presets").joinpath(f"{name}.toml").read_bytes()
    document = tomllib.loads(data.decode())
    for override in overrides:
        _apply(document, override)
    return LoadedPreset(validate_preset(document, name), f"sha256:{hashlib.sha256(data).hexdigest()}", tuple(overrides))


def validate_preset(document: dict[str, Any], name: str) -> Preset:
    """Turn a TOML document into a Preset.

    Raises:
        UsageError: naming the field and what is wrong with it.
    """
    try:
        preset = Preset.model_validate(_frozen(document))
    except ValidationError as error:
        raise UsageError(f"preset {name}: {describe_invalid(error)}") from error
    names = [arm.name for arm in preset.arms]
    for arm in names:
        if arm in RESERVED_ARMS or names.count(arm) > 1:
            raise UsageError(f"preset {name}: arms: the name {arm!r} is taken; give every arm a name of its own")
    return preset


def nearest(word: str, choices: Sequence[str]) -> str:
    """`; did you mean X?` for the most similar choice, or nothing."""
    close = difflib.get_close_matches(word, choices, n=1, cutoff=0.4)
    return f"; did you mean {close[0]!r}?" if close else ""


def _frozen(value: Any) -> Any:
    """TOML arrays as tuples, which strict records ask for."""
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _apply(document: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    if not separator or not key:
        raise UsageError(f"--set {override!r}: not of the form key=value")
    value = _value(text.strip())
    parts = key.strip().split(".")
    if parts[0] == "arms":
        _apply_arm(document, parts, value, override)
        return
    model, target = (NiahSpec, document.setdefault("workload", {})) if parts[0] == "workload" else (Preset, document)
    names = parts[1:] if parts[0] == "workload" else parts
    fixed = ("name", "title", "kind", "arms", "workload")
    known = [field for field in model.model_fields if model is NiahSpec or field not in fixed]
    _set(target, names, known, value, override)


def _apply_arm(document: dict[str, Any], parts: list[str], value: Any, override: str) -> None:
    arms = {str(arm["name"]): arm for arm in document["arms"]}
    if len(parts) != 3 or parts[1] not in arms:
        given = parts[1] if len(parts) > 1 else ""
        hint = nearest(given, list(arms))
        raise UsageError(f"--set {override!r}: no arm named {given!r}{hint}; write arms.NAME.FIELD=value")
    known = [field for field in ArmSpec.model_fields if field not in ("name", "role", "engine")]
    _set(arms[parts[1]], parts[2:], known, value, override)


def _set(target: dict[str, Any], names: list[str], known: list[str], value: Any, override: str) -> None:
    if len(names) != 1 or names[0] not in known:
        raise UsageError(f"--set {override!r}: no such key{nearest('.'.join(names), known)}; keys: {', '.join(known)}")
    target[names[0]] = value


def _value(text: str) -> Any:
    """The text as a TOML value; what is none is taken as a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
