"""The presets that ship with K3, as documents: what a run from one of them had to be.

A report names its preset by name and digest of the file. A preset that changed keeps its old file in
`presets/superseded`, so that what was measured with it can still be held to it. What only a judgement of such a report
needs is imported there: listing rules does without.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from reports.records.constants import FIXED_SETTINGS

Document = dict[str, Any]


@dataclass(frozen=True)
class ShippedPreset:
    """The file of a preset, and whether another one took its place."""

    data: bytes
    superseded: bool


@cache
def shipped_presets() -> Mapping[tuple[str, str], ShippedPreset]:
    """Every preset by name and digest, the superseded ones (`NAME@` and the start of the digest) too."""
    from importlib import resources

    from reports.records.record import digest_of

    folder, found = resources.files("presets"), {}
    for place, superseded in ((folder, False), (folder / "superseded", True)):
        for file in place.iterdir() if place.is_dir() else ():
            if file.name.endswith(".toml"):
                name, data = file.name.removesuffix(".toml").partition("@")[0], file.read_bytes()
                found[name, digest_of(data)] = ShippedPreset(data, superseded)
    return MappingProxyType(found)


def preset_document(data: bytes, overrides: Sequence[str]) -> Document:
    """The document of a preset file with `key=value` overrides applied, as `k3 eval --set` applies them.

    Raises:
        ValueError: an override that this preset cannot take.
    """
    from reports.untrusted.toml import parse_toml

    document = parse_toml(data)
    for override in overrides:
        key, separator, text = override.partition("=")
        parts = key.strip().split(".")
        target: Any = document
        if parts[0] == "arms":
            target = next((arm for arm in document.get("arms", ()) if arm["name"] == ".".join(parts[1:2])), None)
            parts = parts[2:]
        for part in parts[:-1]:
            target = target.setdefault(part, {}) if isinstance(target, dict) else None
        if not separator or not parts or not isinstance(target, dict) or parts[-1] in FIXED_SETTINGS:
            raise ValueError(f"{override[:60]!r} is no override of this preset")
        target[parts[-1]] = _value(text.strip())
    return document


def _value(text: str) -> Any:
    """The text as a TOML value; what is none is a string."""
    from reports.untrusted.toml import parse_toml

    try:
        return parse_toml(f"value = {text}".encode())["value"]
    except ValueError:  # no TOML, a lone surrogate, or what no honest run was given
        return text
