"""Loads a verifier from a folder that holds an mlx-lm or transformers model."""

import glob
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from mlx_lm.utils import load_model, load_tokenizer

from harness.base.errors import ModelError
from harness.engines.architecture import Architecture
from harness.engines.mlx.device import raise_wired_limit
from harness.engines.mlx.verifier.architecture import read_architecture
from harness.engines.rope import rope_overrides
from harness.models.folder.model_folder import open_folder
from harness.models.library_errors import told_in_one_line
from harness.models.tokenizer import check_tokenizer, library_options
from reports.engines import MLX, Backend


@dataclass(frozen=True)
class Verifier:
    """A loaded model, its tokenizer (mlx-lm's wrapper), what it is, and the folder it was loaded from, if any."""

    model: Any
    tokenizer: Any
    architecture: Architecture
    folder: Path | None = None
    backend: ClassVar[Backend] = MLX
    drafters: dict[tuple[str | int | None, ...], Any] = field(default_factory=dict, compare=False, repr=False)
    """Drafters already loaded for it, by kind, folder, weights, type and bits, so that arms share them."""


def load_verifier(folder: Path) -> Verifier:
    """Load weights and tokenizer; nothing is fetched, and no code of the folder is run unless the user trusts it.

    Raises:
        ModelError: as `open_folder` and `check_tokenizer`; an architecture mlx-lm does not know, weights that do not
            fit it, or a tokenizer that mlx-lm cannot open.
    """
    raise_wired_limit()
    opened = open_folder(folder)
    if glob.escape(str(folder)) != str(folder):
        raise ModelError(f"{folder}: mlx-lm finds no weights where a path has one of [ ] * ?: rename the folder")
    check_tokenizer(opened)
    version = metadata.version("mlx-lm")
    with told_in_one_line(f"{folder}: mlx-lm {version} cannot load it", "see whether config.json is of these weights"):
        model, merged = load_model(
            folder, model_config=rope_overrides(opened.config), trust_remote_code=bool(opened.code)
        )
        tokenizer = load_tokenizer(folder, library_options(opened), eos_token_ids=merged.get("eos_token_id"))
    architecture = read_architecture(model, merged, set(tokenizer.eos_token_ids))
    return Verifier(model, tokenizer, architecture, folder)
