"""Opening the tokenizer of a model folder, which a stranger wrote: tried in a process apart, then read by a library."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError
from harness.base.trust import FLAG
from harness.models.cache import cache_root
from harness.models.faithfulness import fixed_text
from harness.models.folder.digest import file_digest
from harness.models.folder.files import read_file
from harness.models.folder.model_folder import ModelFolder
from harness.models.folder.tokenizer_files import TEXT_LIMIT, require_vocabulary, tokenizer_files
from harness.models.library_errors import told_in_one_line
from harness.models.sandbox.sandbox import ask
from reports.untrusted.strict_json import StrictJsonError, check_shape

REMEDY = "take tokenizer.json and tokenizer_config.json from the model it was made of"
MOST_VALUES = 4_000_000
"""Values in a file of a tokenizer. Gemma's, a quarter million pieces and their merges, has 1.9 million."""
MOST_PER_TOKEN = 100
"""Characters of prose that a token stands for at most; honest vocabularies have three to five."""
REPETITIVE = tuple(piece * 2_000 for piece in ("a", " ", "ab", "0", "\n", "-"))
"""Texts over which a badly made regular expression runs without end."""


def open_tokenizer(folder: ModelFolder) -> Any:
    """The tokenizer as transformers reads it.

    Raises:
        ModelError: as `check_tokenizer`, or transformers cannot open it.
    """
    check_tokenizer(folder)
    from transformers import AutoTokenizer

    with told_in_one_line(f"{folder.path}: transformers cannot open its tokenizer", REMEDY):
        return AutoTokenizer.from_pretrained(folder.path, **library_options(folder))


def library_options(folder: ModelFolder) -> dict[str, Any]:
    """What a library is told when it opens the folder: fetch nothing, and run what the user trusts."""
    return {"local_files_only": True, "trust_remote_code": bool(folder.code)}


def check_tokenizer(folder: ModelFolder) -> None:
    """See that a library can open the tokenizer of the folder: there is one, of a class the library has, of files that
    are neither too deep nor too large, and it splits texts in bounded time and memory.

    Raises:
        ModelError: it is not so.
    """
    require_vocabulary(folder.path)
    for path in tokenizer_files(folder.path):
        if path.suffix == ".json":
            try:
                check_shape(read_file(path, TEXT_LIMIT), MOST_VALUES)
            except StrictJsonError as error:
                raise ModelError(f"{path}: {error}: {REMEDY}") from error
    _try(folder.path / "tokenizer.json")
    _check_class(folder)


def _try(path: Path) -> None:
    """Load the file and split texts with it in the process apart; once for the same bytes and library."""
    if not path.exists():
        return
    key = hashlib.sha256(f"{file_digest(path)} {metadata.version('tokenizers')}".encode()).hexdigest()[:32]
    tried = cache_root() / "tokenizers" / key
    if tried.exists():
        return
    text = fixed_text()
    try:
        made = ask("try_tokenizer", file=str(path.absolute()), texts=[text, *REPETITIVE])
    except ModelError as error:
        raise ModelError(f"{path}: no working tokenizer ({error}): {REMEDY}") from error
    tokens = made["tokens"][0]
    if tokens * MOST_PER_TOKEN < len(text):
        raise ModelError(f"{path}: no working tokenizer ({tokens} tokens of {len(text)} characters): {REMEDY}")
    with suppress(OSError):  # only a shortcut
        tried.parent.mkdir(parents=True, exist_ok=True)
        tried.touch()


def _check_class(folder: ModelFolder) -> None:
    """Refuse a class that the library does not have: it would quietly take another one."""
    import transformers
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    transformers.utils.logging.set_verbosity_error()
    for file, settings in folder.settings.items():
        name = settings.get("tokenizer_class")
        if not isinstance(name, str) or folder.code:
            continue
        classes: Iterable[Any] = (tokenizer_class_from_name(spelling) for spelling in (name, f"{name}Fast"))
        if not any(isinstance(found, type) for found in classes):
            raise ModelError(
                f"{folder.path / file}: tokenizer_class: transformers {transformers.__version__} has no {name}, so it "
                f"would be code of the model's own: upgrade transformers, or see what {FLAG} means"
            )
