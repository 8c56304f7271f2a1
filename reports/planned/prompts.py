"""The prompts that presets make from their seed, by digest: for whoever judges a run and makes no prompts.

K3's own templates make the same prompts on every machine. `scripts/record_prompts.py` writes them down.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources

from reports.records.plan import PromptRecord, prompts_digest
from reports.records.record import Record

FILE = "prompts.json"
DIGITS = slice(7, 19)
"""Of a digest: so many tell prompts apart."""


class PlannedPrompts(Record):
    """The prompts of one preset, for the tokenizer of its model: by set, each at the place of its sample."""

    model: str
    prompts: Mapping[str, tuple[str, ...]]


def shown(prompt: PromptRecord) -> str:
    """A prompt by its tokens, and by all that is told of it."""
    return f"{(prompt.digest or '')[DIGITS]} {prompts_digest((prompt,))[DIGITS]}"


def key_of(name: str, digest: str) -> str:
    """A preset by its name and the start of its file's digest."""
    return f"{name}@{digest[DIGITS]}"


@cache
def planned_prompts(name: str, digest: str) -> PlannedPrompts | None:
    """Those of the preset of this name whose file has this digest; none where they were not recorded."""
    found = _recorded().get(key_of(name, digest))
    return PlannedPrompts.model_validate_json(json.dumps(found)) if found is not None else None


@cache
def _recorded() -> dict[str, object]:
    found: dict[str, object] = json.loads(resources.files("reports.planned").joinpath(FILE).read_bytes())
    return found
