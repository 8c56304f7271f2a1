"""Presets: one TOML file a preset, typed and bounded; `--set` overrides are checked before anything loads."""

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from harness.errors import UsageError
from harness.nearest import nearest
from reports.record import Record
from reports.report import describe_invalid

ArmName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
RESERVED_ARMS = ("oracle", "oracle_again", "needle_free")
"""Arms every run of their kind has; the plan adds them, a preset cannot leave them out."""


class DrafterSpec(Record):
    """The proposer of a fused arm. `block_size` counts the last committed token and the drafts after it."""

    kind: Literal["ngram", "model", "dflash", "dflash-torch"]
    model: str | None = Field(None, max_length=500, description="As for a preset; none for ngram")
    block_size: int = Field(8, ge=1, le=64)
    graph: Literal["two_phase", "single"] = "two_phase"
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    shuffle_seed: int | None = Field(None, ge=0, description="Makes a negative control of the drafter")


class ArmSpec(Record):
    """One arm beside the oracle. `exact_layers`: layer numbers, or a layer type, whose own K/V are all kept."""

    name: ArmName
    role: Literal["sut", "control", "peer"]
    engine: Literal["ar", "native-baseline", "incremental", "fused", "fused-carry"]
    label: str | None = Field(None, max_length=100, description="What the arm is presented as")
    restoration: Literal["none", "identity", "ablate"] = "none"
    exact_layers: Literal["none", "full_attention", "sliding_attention"] | tuple[int, ...] = "none"
    sink: int = Field(4, ge=0, le=4096)
    window: int = Field(64, ge=1, le=65536)
    eviction: Literal["strict", "after"] = "strict"
    drafter: DrafterSpec | None = None


class NiahSpec(Record):
    """The haystack."""

    lines: int = Field(70, ge=5, le=2000, description="Mean haystack size in lines")
    prompt_style: Literal["auto", "chat", "completion"] = "auto"


class CodeSpec(Record):
    """The files to complete."""

    items: int = Field(12, ge=2, le=56, description="Mean number of items a file shows before the cut")


class BasePreset(Record):
    """Everything a run needs to be told, whatever is asked."""

    name: ArmName
    title: str = Field(max_length=200)
    model: str = Field(min_length=1, max_length=500, description="A name of `k3 models list`, a folder or a hub id")
    samples: int = Field(5, ge=1, le=1000)
    repeats: int = Field(3, ge=1, le=50)
    seed: int = Field(42, ge=0, le=2**31)
    max_new_tokens: int = Field(16, ge=2, le=4096)
    prefill_chunk: int = Field(512, ge=1, le=8192)
    ignore_turn_stop: bool = False
    arms: tuple[ArmSpec, ...] = Field(min_length=1, max_length=20)


class NiahPreset(BasePreset):
    """A needle run."""

    kind: Literal["niah"]
    workload: NiahSpec = NiahSpec()


class CodePreset(BasePreset):
    """A code-completion run."""

    kind: Literal["code"]
    workload: CodeSpec = CodeSpec()


Preset = NiahPreset | CodePreset
KINDS: dict[str, type[NiahPreset] | type[CodePreset]] = {"niah": NiahPreset, "code": CodePreset}


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
        raise UsageError(f"no preset named {name!r}{did_you_mean(name, preset_names())}; `k3 presets list` shows all")
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
    kind = document.get("kind")
    if kind not in KINDS:
        raise UsageError(f"preset {name}: kind: {kind!r} is none of {', '.join(KINDS)}")
    try:
        preset: Preset = KINDS[str(kind)].model_validate(_frozen(document))
    except ValidationError as error:
        raise UsageError(f"preset {name}: {describe_invalid(error)}") from error
    names = [arm.name for arm in preset.arms]
    for arm in names:
        if arm in RESERVED_ARMS or names.count(arm) > 1:
            raise UsageError(f"preset {name}: arms: the name {arm!r} is taken; give every arm a name of its own")
    return preset


def did_you_mean(word: str, choices: Sequence[str]) -> str:
    """`; did you mean X?` for the most similar choice, or nothing."""
    close = nearest(word, choices)
    return f"; did you mean {close!r}?" if close else ""


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
    kind = KINDS[str(document["kind"])]
    if parts[0] == "workload":
        known = list(type(kind.model_fields["workload"].default).model_fields)
        _set(document.setdefault("workload", {}), parts[1:], known, value, override)
        return
    fixed = ("name", "title", "kind", "arms", "workload")
    _set(document, parts, [field for field in kind.model_fields if field not in fixed], value, override)


def _apply_arm(document: dict[str, Any], parts: list[str], value: Any, override: str) -> None:
    arms = {str(arm["name"]): arm for arm in document["arms"]}
    given = parts[1] if len(parts) > 1 else ""
    if len(parts) < 3 or given not in arms:
        hint = did_you_mean(given, list(arms))
        raise UsageError(f"--set {override!r}: no arm named {given!r}{hint}; write arms.NAME.FIELD=value")
    if parts[2] == "drafter" and len(parts) > 3:
        if "drafter" not in arms[given]:
            raise UsageError(f"--set {override!r}: arm {given!r} drafts nothing")
        _set(arms[given]["drafter"], parts[3:], list(DrafterSpec.model_fields), value, override)
        return
    known = [field for field in ArmSpec.model_fields if field not in ("name", "role", "engine", "drafter")]
    _set(arms[given], parts[2:], known, value, override)


def _set(target: dict[str, Any], names: list[str], known: list[str], value: Any, override: str) -> None:
    if len(names) != 1 or names[0] not in known:
        hint = did_you_mean(".".join(names), known)
        raise UsageError(f"--set {override!r}: no such key{hint}; keys: {', '.join(known)}")
    target[names[0]] = value


def _value(text: str) -> Any:
    """The text as a TOML value; what is none is taken as a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
