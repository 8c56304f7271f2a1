"""The files of a model folder that a tokenizer and its chat template are read from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError

TEXT_SUFFIXES = (".json", ".jinja", ".model", ".txt", ".tiktoken", ".codes", ".spm", ".tokenizer")
TEXT_LIMIT = 64 * 2**20
"""Bytes of such a file; the largest honest tokenizers, of a quarter million pieces, have half of it."""
TEMPLATES = "additional_chat_templates"
VOCABULARIES = ("tokenizer.json", "*.model", "*vocab*", "*.tiktoken", "tekken.json", "*.spm", "*.tokenizer")
"""Where the pieces themselves can be; the other files only say how they are used."""
APART = ("config.json", "generation_config.json", "hf_quant_config.json", "model.safetensors.index.json",
         "k3.json", "manifest.json")  # fmt: skip
"""Files with such a suffix that decide no token."""


def tokenizer_files(folder: Path) -> tuple[Path, ...]:
    """The files that a tokenizer or its chat template may be read from, sorted by name."""
    beside = [path for path in folder.iterdir() if path.suffix in TEXT_SUFFIXES and path.name not in APART]
    return tuple(sorted(path for path in [*beside, *folder.glob(f"{TEMPLATES}/*.jinja")] if path.is_file()))


def may_have_chat_template(folder: Path, settings: Mapping[str, Mapping[str, Any]]) -> bool:
    """A file of the folder may hold a template for turns; `settings` are its configs by file. If not, it has none."""
    stated = settings.get("tokenizer_config.json", {})
    files = (folder / "chat_template.jinja", folder / "chat_template.json", *folder.glob(f"{TEMPLATES}/*.jinja"))
    return any(stated.get(key) for key in ("chat_template", "chat_template_type")) or any(map(Path.exists, files))


def require_vocabulary(folder: Path) -> None:
    """See that there is something to make tokens of; without, libraries make an empty tokenizer and say nothing.

    Raises:
        ModelError: there is not.
    """
    if not any(path.is_file() for pattern in VOCABULARIES for path in folder.glob(pattern)):
        raise ModelError(
            f"{folder / 'tokenizer.json'}: missing, and no other vocabulary is there: copy the tokenizer's files from "
            "the model it was made of"
        )
