"""What a validation found wrong, in one line of plain words; nothing of the library's own wording reaches a user."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from reports.untrusted.nearest import nearest
from reports.untrusted.one_line import one_line

_WORDS = {
    "missing": "is missing",
    "string_type": "must be text",
    "string_unicode": "must be text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be of the form {pattern}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object with keys",
    "model_type": "must be an object with keys",
    "model_attributes_type": "must be an object with keys",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}
"""By the library's type of the fault, with what it says of the bounds."""

_PREFIXES = ("Value error, ", "Assertion failed, ", "Input should ")


def describe_invalid(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """The first fault of a validation as `field: what is wrong`, with the number of others; a rule that the whole
    breaks has no field. With the `model` that was to be read, a key that it does not have is told the nearest one."""
    faults = error.errors(include_url=False, include_input=False)
    whole = "" if faults[0]["type"] == "value_error" else "document"
    field = ".".join(str(part) for part in faults[0]["loc"]) or whole
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    said = fault_words(faults[0], model)
    return one_line(f"{field}: {said}" if field else said) + more


def fault_words(fault: Any, model: type[BaseModel] | None = None) -> str:
    """What is wrong at one place, from one of `ValidationError.errors()`."""
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        return f"is no key here{_meant(str(fault['loc'][-1]), _keys(model, fault['loc'][:-1]))}"
    if kind in _WORDS:
        words = _WORDS[kind].format(**{name: _shown(value) for name, value in context.items()})
        return "must not be empty" if words.startswith("must have at least 1 ") else words
    words = fault["msg"]
    for prefix in _PREFIXES:
        words = words.removeprefix(prefix)
    return str(words)


def _shown(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def _meant(key: str, keys: Iterable[str]) -> str:
    known = list(keys)
    near = nearest(key, known)
    if near is not None:
        return f"; did you mean {near}?"
    return f"; the keys are {', '.join(known)}" if known else ""


def _keys(model: type[BaseModel] | None, place: tuple[int | str, ...]) -> dict[str, None]:
    """The keys of the table at `place` within `model`; none where that is not known."""
    found = [model] if model is not None else []
    for part in place:
        fields = [one.model_fields[str(part)] for one in found if part in one.model_fields]
        if fields:  # an index, or the tag of a union, is no field: the tables stay the same
            found = [inner for field in fields for inner in _models(field.annotation)]
    return {field.alias or name: None for one in found for name, field in one.model_fields.items()}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
