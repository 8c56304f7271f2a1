"""Tiny models as folders on disk, as transformers writes them."""

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from harness.engines.mlx.verifier.load import Verifier
from tests.tokenizers_for_tests import trained


def write_folder(folder: Path, verifier: Verifier, **config: Any) -> Path:
    """Weights, tokenizer and config of `verifier`; `config` replaces or, if None, removes keys."""
    folder.mkdir()
    weights = dict(tree_flatten(verifier.model.parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "pt"})
    trained(chat=True).save_pretrained(folder)
    stated = vars(verifier.model.args) | {"eos_token_id": 0} | config
    (folder / "config.json").write_text(json.dumps({key: value for key, value in stated.items() if value is not None}))
    return folder
