"""Which model a folder holds: the digests of everything that decides its tokens.

Facts about a model are kept, and runs are gone on with, by this identity, never by the folder's name or weights alone:
the same weights under another `rope_theta` or beside another tokenizer are another model.
"""

from pathlib import Path

from harness.models.folder.digest import compute_digest, known_digest, weights_digest
from harness.models.folder.tokenizer_files import tokenizer_files
from reports.records.record import Digest, Record

CONFIG_FILES = ("config.json", "generation_config.json", "hf_quant_config.json")
"""What mlx-lm and transformers make of the weights, and where a stream stops."""


class ModelIdentity(Record):
    """Digests of a model: its weights, its config, its tokenizer with the chat template (none where it has none)."""

    weights: Digest
    config: Digest
    tokenizer: Digest | None = None


def identity_of(folder: Path) -> ModelIdentity:
    """The identity of the model in `folder`; reads all of it that is not remembered.

    Raises:
        ModelError: as `read_weights`, or a file cannot be read.
    """
    return _identity(folder, weights_digest(folder))


def known_identity(folder: Path) -> ModelIdentity | None:
    """The same where the digest of the weights is remembered; None elsewhere.

    Raises:
        ModelError: as `identity_of`.
    """
    weights = known_digest(folder)
    return None if weights is None else _identity(folder, weights)


def _identity(folder: Path, weights: str) -> ModelIdentity:
    config = [folder / name for name in CONFIG_FILES] + sorted(folder.glob("*.py"))
    text = tokenizer_files(folder)
    return ModelIdentity(
        weights=weights,
        config=compute_digest([path for path in config if path.is_file()]),
        tokenizer=compute_digest(text) if text else None,
    )
