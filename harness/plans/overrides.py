"""`--set key=value`: a value of a preset's document replaced, with the nearest key named where there is none such."""

from collections.abc import Sequence
from typing import Any, get_args

from harness.base.errors import UsageError
from harness.plans.preset import ArmSpec
from reports.records.constants import FIXED_SETTINGS
from reports.records.record import Record
from reports.untrusted.nearest import nearest
from reports.untrusted.toml import parse_toml


def apply(document: dict[str, Any], kind: type[Record], override: str) -> None:
    """Replace one value in the document of a preset of class `kind`; whether it fits is left to validation.

    Raises:
        UsageError: not key=value, or a key that presets of this kind do not have.
    """
    key, separator, text = override.partition("=")
    if not separator or not key:
        raise UsageError(f"--set {override!r}: not of the form key=value")
    parts = key.strip().split(".")
    target, record = document, kind
    prefix = ""
    if parts[0] == "arms" and "arms" in kind.model_fields:
        prefix = ".".join(parts[:2]) + "."
        target, record, parts = _arm(document, parts, override), ArmSpec, parts[2:]
    while len(parts) > 1 and (inner := _inner(record, parts[0])) is not None:
        prefix += f"{parts[0]}."
        target, record, parts = _table(target, record, parts[0], override), inner, parts[1:]
    fixed = (*FIXED_SETTINGS, "arms")
    known = [name for name in record.model_fields if name not in fixed and not _inner(record, name)]
    if len(parts) != 1 or parts[0] not in known:
        hint = _hint(key.strip(), kind, prefix) or f"; the keys are {_listed(record, prefix)}"
        raise UsageError(f"--set {override!r}: no such key{hint}")
    target[parts[0]] = _value(text.strip())


def _hint(key: str, kind: type[Record], prefix: str) -> str:
    """The most similar key of the table that `key` names; else the key of that last name wherever it stands, else the
    most similar one; of the arm that `prefix` names."""
    arm = ".".join(prefix.split(".")[:2]) if prefix.startswith("arms.") else "arms.NAME"
    paths = [*_paths(kind), *(_paths(ArmSpec, f"{arm}.") if "arms" in kind.model_fields else ())]
    table, _, field = key.rpartition(".")
    beside = {path.rpartition(".")[2]: path for path in paths if table and path.rpartition(".")[0] == table}
    close = nearest(field, beside)
    if close is not None:
        return f"; did you mean {beside[close]!r}?"
    same = [path for path in paths if path.rpartition(".")[2] == field and path != key]
    return f"; did you mean {' or '.join(map(repr, same))}?" if same else did_you_mean(key, paths)


def _listed(record: type[Record], prefix: str) -> str:
    """Every key of `record` as it is written on the command line; those of arms are only named by their form."""
    arms = ["arms.NAME.FIELD"] if "arms" in record.model_fields else []
    return ", ".join([*_paths(record, prefix), *arms])


def _paths(record: type[Record], prefix: str = "") -> list[str]:
    """The keys of a record and of the tables in it, with their full paths."""
    paths: list[str] = []
    for name in record.model_fields:
        if name in FIXED_SETTINGS or name == "arms":
            continue
        inner = _inner(record, name)
        paths += _paths(inner, f"{prefix}{name}.") if inner is not None else [f"{prefix}{name}"]
    return paths


def did_you_mean(word: str, choices: Sequence[str]) -> str:
    """`; did you mean X?` for the most similar choice, or nothing."""
    close = nearest(word, choices)
    return f"; did you mean {close!r}?" if close else ""


def _arm(document: dict[str, Any], parts: list[str], override: str) -> dict[str, Any]:
    """The table of the arm that `arms.NAME.FIELD` names."""
    arms = {str(arm["name"]): arm for arm in document["arms"]}
    given = parts[1] if len(parts) > 1 else ""
    if len(parts) < 3 or given not in arms:
        hint = did_you_mean(given, list(arms)) or f"; the arms are {', '.join(arms)}"
        raise UsageError(f"--set {override!r}: no arm named {given!r}{hint}")
    found: dict[str, Any] = arms[given]
    return found


def _table(target: dict[str, Any], record: type[Record], field: str, override: str) -> dict[str, Any]:
    """The table under `field`; made if the preset leaves it at its default, refused if there is none to change."""
    if field not in target and record.model_fields[field].get_default() is None:
        raise UsageError(f"--set {override!r}: this preset has no {field} there to change")
    found: dict[str, Any] = target.setdefault(field, {})
    return found


def _inner(record: type[Record], field: str) -> type[Record] | None:
    """The record class of a field that is a table, or None."""
    if field not in record.model_fields:
        return None
    annotation = record.model_fields[field].annotation
    for choice in (annotation, *get_args(annotation)):
        if isinstance(choice, type) and issubclass(choice, Record):
            return choice
    return None


def _value(text: str) -> Any:
    """The text as a TOML value; what is none is taken as a string."""
    try:
        return parse_toml(f"value = {text}".encode())["value"]
    except ValueError:  # no TOML, a lone surrogate, or what no preset takes
        return text
