"""Verification results, kept in the cache so that a report can carry one without torch."""

import hashlib
import json
from importlib import metadata
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import ModelError
from harness.models.cache import CACHE_VARIABLE, cache_root
from harness.models.folder.identity import ModelIdentity
from reports.atomic_file import write_atomically
from reports.engines import Backend
from reports.records.provenance import Faithfulness
from reports.records.record import digest_of

LIBRARIES: dict[Backend, tuple[str, ...]] = {
    "mlx": ("mlx", "mlx-lm", "transformers", "tokenizers"),
    "torch": ("torch", "transformers", "tokenizers"),
}
"""What runs a model and splits its text, by backend; an upgrade of one makes the comparison another."""


def fixed_text() -> str:
    """The text every verification runs on: longer than the window of 512 that small sliding models have."""
    return Path(__file__).with_name("verify_text.txt").read_text(encoding="utf-8")


def text_digest() -> str:
    """sha256:<hex> of the fixed text."""
    return digest_of(fixed_text().encode())


def load_faithfulness(
    identity: ModelIdentity, backend: Backend = "mlx", dtype: str | None = None
) -> Faithfulness | None:
    """The stored result for this very model under the installed libraries; None if there is none.

    `dtype` is the type it runs in, where the backend lets a run choose it.
    """
    try:
        return Faithfulness.model_validate_json(_record(identity, backend, dtype).read_bytes())
    except (OSError, ValidationError):
        return None


def store_faithfulness(
    identity: ModelIdentity, result: Faithfulness, backend: Backend = "mlx", dtype: str | None = None
) -> None:
    """Store a result for `load_faithfulness`.

    Raises:
        ModelError: the cache is not writable, so that the result would be lost.
    """
    path = _record(identity, backend, dtype)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(result.model_dump_json(indent=1).encode() + b"\n", path)
    except OSError as error:
        remedy = f"make it writable, or set {CACHE_VARIABLE} to another folder"
        raise ModelError(f"{path.parent}: the comparison cannot be kept ({error.strerror}): {remedy}") from error


def _record(identity: ModelIdentity, backend: Backend, dtype: str | None) -> Path:
    libraries = {name: metadata.version(name) for name in LIBRARIES[backend]}
    parts = identity.model_dump() | libraries | {"text": text_digest()} | ({"dtype": dtype} if dtype else {})
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
    return cache_root() / "verified" / f"{key}.json"
