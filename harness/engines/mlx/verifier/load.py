"""Loads a verifier from a folder that holds an mlx-lm or transformers model."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlx_lm.utils import load_model, load_tokenizer

from harness.base.errors import ModelError
from harness.engines.mlx.device import raise_wired_limit
from harness.engines.mlx.verifier.architecture import Architecture, read_architecture
from harness.engines.rope import rope_overrides

FAILURES = (OSError, ValueError, RuntimeError, KeyError, TypeError, AttributeError, AssertionError)


@dataclass(frozen=True)
class Verifier:
    """A loaded model, its tokenizer (mlx-lm's wrapper), what it is, and the folder it was loaded from, if any."""

    model: Any
    tokenizer: Any
    architecture: Architecture
    folder: Path | None = None
    drafters: dict[tuple[str | int | None, ...], Any] = field(default_factory=dict, compare=False, repr=False)
    """Drafters already loaded for it, by kind, folder, weights, type and bits, so that arms share them."""


def load_verifier(folder: Path) -> Verifier:
    """Load weights and tokenizer; nothing is fetched.

    Raises:
        ModelError: no such folder, config or weights missing or unreadable (a Git-LFS pointer, a truncated file),
            an architecture mlx-lm does not know, or weights that do not fit it.
    """
    raise_wired_limit()
    config = _read_config(folder)
    overrides = rope_overrides(config)
    try:
        model, merged = load_model(folder, model_config=overrides)
        tokenizer = load_tokenizer(folder, eos_token_ids=merged.get("eos_token_id"))
        architecture = read_architecture(model, merged, set(tokenizer.eos_token_ids))
    except FAILURES as error:
        raise ModelError(f"{folder}: cannot be loaded: {_first_line(error)}; fetch the model again") from error
    return Verifier(model, tokenizer, architecture, folder)


def _read_config(folder: Path) -> dict[str, Any]:
    """config.json of a model folder, with the one key everything else hangs on."""
    path = folder / "config.json"
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such model folder; see `k3 models list`")
    try:
        config = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read: {_first_line(error)}; fetch the model again") from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise ModelError(f"{path}: model_type: missing; this is no model mlx-lm can load")
    return config


def _first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")
