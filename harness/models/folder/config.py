"""Whether a config can be that of the weights beside it, found out before anything is made by its numbers."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError
from harness.models.folder.weights import WeightFile
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line

MOST_LAYERS = 10_000
LARGEST_INTEGER = 2**53
LAYER_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_NUMBERED = re.compile(r"(?:^|(?<=\.))\d+(?=\.)")


def check_config(path: Path, config: dict[str, Any], weights: Sequence[WeightFile]) -> None:
    """See that names are names, numbers are numbers a model can have, and layers are no more than the weights hold.

    Raises:
        ModelError: a field is not so; it is named.
    """
    if not isinstance(config.get("model_type"), str):
        raise ModelError(f"{path}: model_type: missing, so no engine can tell which architecture this is")
    for key, value in _numbers("", config):
        if not math.isfinite(value) or abs(value) > LARGEST_INTEGER:
            raise ModelError(f"{path}: {key}: no number that a model can have: take the config they came with")
        if "layer" in key.rpartition(".")[2] and value > MOST_LAYERS:
            raise ModelError(f"{path}: {key}: over {MOST_LAYERS} layers: take the config they came with")
    text = config.get("text_config")
    stored = stored_layers(weights)
    for settings, where in ((config, ""), (text if isinstance(text, dict) else {}, "text_config.")):
        _check_names(path, where, settings)
        _check_layers(path, where, settings, stored)


def check_stops(path: Path, document: dict[str, Any]) -> None:
    """See that the tokens at which a stream ends are token ids.

    Raises:
        ModelError: they are not.
    """
    stated = document.get("eos_token_id")
    for token in stated if isinstance(stated, list) else [stated]:
        if token is not None and not (type(token) is int and 0 <= token < 2**31):
            raise ModelError(f"{path}: eos_token_id: {_shown(stated)} is no token id, nor a list of them")


def stored_layers(weights: Sequence[WeightFile]) -> int:
    """How many layers the weights hold: the most numbers that stand in one place of a tensor's name."""
    numbers: dict[str, set[str]] = {}
    for file in weights:
        for tensor in file.tensors:
            for number in _NUMBERED.finditer(tensor.name):
                numbers.setdefault(tensor.name[: number.start()], set()).add(number[0])
    return max(map(len, numbers.values()), default=0)


def _numbers(place: str, value: Any) -> Iterator[tuple[str, float]]:
    """Every number with the path of its field; the parser has bounded the depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(f"{place}.{one_line(key, 60)}".removeprefix("."), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(place, inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value


def _check_names(path: Path, where: str, settings: dict[str, Any]) -> None:
    for key in ("architectures", "layer_types"):
        names = settings.get(key)
        if isinstance(names, str):
            names = [names]
        if names is None:
            continue
        if not isinstance(names, list) or len(names) > MOST_LAYERS or not all(map(_is_name, names)):
            raise ModelError(f"{path}: {where}{key}: {_shown(names)} is no list of names")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _check_layers(path: Path, where: str, settings: dict[str, Any], stored: int) -> None:
    for key in LAYER_COUNTS:
        stated = settings.get(key)
        if stated is None:
            continue
        if type(stated) is not int or stated < 1:
            raise ModelError(f"{path}: {where}{key}: {_shown(stated)} is no count of layers")
        if stated > stored:
            raise ModelError(
                f"{path}: {where}{key}: {number_of(stated, 'layer')}, and the weights hold {stored}: take the config "
                "they came with"
            )


def _shown(value: Any) -> str:
    return one_line(repr(value), 60)
