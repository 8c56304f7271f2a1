"""What of a model folder would run, or could be made to run, when a library reads it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError
from harness.base.trust import FLAG, code_is_trusted
from reports.untrusted.one_line import one_line

CODE_FIELDS = ("model_file", "auto_map", "custom_pipelines", "custom_generate", "trust_remote_code")
"""Fields, at any depth, that name code of the model's own, or ask for it: mlx-lm's first, transformers' the others."""
KERNEL_FIELDS = ("attn_implementation", "_attn_implementation", "experts_implementation")
"""Fields that name a kernel; with a slash it is one to be downloaded."""
CLASS_FIELDS = ("tokenizer_class", "processor_class", "tool_parser_type", "chat_template_type", "model_type")
"""Fields that name a class or module of a library, which is looked up by this name."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dill")
ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapters.safetensors", "adapters.npz")
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")
SHOWN = 3


def check_code(folder: Path, settings: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    """Everything in the folder that is code or may bring some, as `file` or `file: field`; `settings` are its configs.

    Raises:
        ModelError: there is some, and the user did not say that it may run.
    """
    found = tuple(one_line(place, 120) for place in _places(folder, settings))
    if found and not code_is_trusted():
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise ModelError(
            f"{folder}: may run code of its own ({', '.join(found[:SHOWN])}{more}): take a model without, or delete "
            f"what is not needed; {FLAG} runs it, and the report is then no evidence"
        )
    return found


def _places(folder: Path, settings: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        if name in ADAPTERS:
            yield f"{name}: an adapter"
        elif name.lower().endswith(PICKLES):
            yield f"{name}: a pickle"
        elif name.lower().endswith((".py", ".pyc", ".so")):
            yield name
    for name, document in settings.items():
        yield from (f"{name}: {field}" for field in _fields(document))
        yield from (f"{name}: {key}" for key in _paths_out(folder, document))


def _fields(document: dict[str, Any]) -> Iterator[str]:
    """Names of fields, at any depth, that would bring code."""
    for key, value in _items(document):
        if key in CODE_FIELDS and value:
            yield key
        elif key in KERNEL_FIELDS and isinstance(value, str) and "/" in value:
            yield f"{key} {value}"
        elif key in CLASS_FIELDS and isinstance(value, str) and not _PLAIN.fullmatch(value):
            yield f"{key} {value!r}"


def _paths_out(folder: Path, document: dict[str, Any]) -> Iterator[str]:
    """Fields that name a file which exists and is none of the folder's. What exporters left of their own disk is not
    there, and no library opens it."""
    for key, value in _items(document):
        if key.endswith("_file") and isinstance(value, str) and os.path.basename(value) != value:
            target = folder / value.replace("\0", "")
            if os.path.lexists(target) and folder.resolve() not in target.resolve().parents:
                yield f"{key} {value}"


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key and its value, at any depth; the parser has bounded it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from _items(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _items(inner)
