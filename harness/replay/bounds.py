"""No report makes a machine run longer, or hold more, than a preset that ships with K3 may."""

import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

from harness.base.errors import CannotRunError
from harness.plans.preset import BasePreset
from harness.plans.preset_file import every_preset, validate_preset

SIZES = frozenset(
    {
        "samples", "max_new_tokens", "timed_tokens", "prefill_chunk", "lines", "words", "items", "needles", "blocks",
        "block_size", "sink", "window", "arms", "codecs", "mixed", "runtime_bits",
    }
)  # fmt: skip
"""Settings that decide how long a run takes or how much it holds; of lists it is their length."""


def check_bounds(preset: BasePreset) -> None:
    """Refuse a preset with a size beyond that of every preset that ships.

    Raises:
        CannotRunError: naming the setting, its value and the largest one.
    """
    largest = _largest()
    for name, size in _sizes(preset.model_dump(mode="json")):
        if size > largest[name]:
            raise CannotRunError(
                f"the report was run with {name} {size}, and no preset that ships has more than {largest[name]}: a "
                "report is not trusted with so long a run; run its preset with `k3 eval`"
            )


@cache
def _largest() -> dict[str, int]:
    largest = dict.fromkeys(SIZES, 0)
    for data in every_preset():
        preset = validate_preset(tomllib.loads(data.decode()), "shipped")
        for name, size in _sizes(preset.model_dump(mode="json")):
            largest[name] = max(largest[name], size)
    return largest


def _sizes(value: Any) -> Iterator[tuple[str, int]]:
    """Every size with its name, however deep it stands."""
    if isinstance(value, list):
        for item in value:
            yield from _sizes(item)
    for name, item in value.items() if isinstance(value, dict) else ():
        if name in SIZES and isinstance(item, (int, list)):
            yield name, len(item) if isinstance(item, list) else item
        yield from _sizes(item)
