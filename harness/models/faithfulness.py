"""Verification results, kept in the cache so that a report can carry one without torch."""

import hashlib
import json
from importlib import metadata
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import ModelError
from harness.models.cache import CACHE_VARIABLE, cache_root
from harness.models.digest import file_digest
from harness.models.folder import CONFIG
from reports.records.provenance import Faithfulness
from reports.records.record import digest_of
from reports.report import write_atomically


def fixed_text() -> str:
    """The text every verification runs on: longer than the window of 512 that small sliding models have."""
    return Path(__file__).with_name("verify_text.txt").read_text(encoding="utf-8")


def text_digest() -> str:
    """sha256:<hex> of the fixed text."""
    return digest_of(fixed_text().encode())


def load_faithfulness(folder: Path, weights: str) -> Faithfulness | None:
    """The stored result for these weights, this config and the installed mlx and mlx-lm; None if there is none."""
    try:
        return Faithfulness.model_validate_json(_record(folder, weights).read_bytes())
    except (OSError, ValidationError):
        return None


def store_faithfulness(folder: Path, weights: str, result: Faithfulness) -> None:
    """Store a result for `load_faithfulness`.

    Raises:
        ModelError: the cache is not writable, so that the result would be lost.
    """
    path = _record(folder, weights)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(result.model_dump_json(indent=1).encode() + b"\n", path)
    except OSError as error:
        remedy = f"make it writable, or set {CACHE_VARIABLE} to another folder"
        raise ModelError(f"{path.parent}: the comparison cannot be kept ({error.strerror}): {remedy}") from error


def _record(folder: Path, weights: str) -> Path:
    parts = {
        "weights": weights,
        "config": file_digest(folder / CONFIG),
        "text": text_digest(),
        "mlx": metadata.version("mlx"),
        "mlx-lm": metadata.version("mlx-lm"),
    }
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
    return cache_root() / "verified" / f"{key}.json"
