"""The recipe beside a model's weights: what they were trained on, read from a manifest that nobody vouches for."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.base.errors import ModelError
from harness.models.f_theta_folder import MANIFEST, MANIFEST_LIMIT
from harness.models.folder.files import read_file
from reports.records.recipe import Recipe
from reports.untrusted.faults import describe_invalid
from reports.untrusted.strict_json import StrictJsonError, parse


def recipe_of(folder: Path, weights: str) -> Recipe | None:
    """What the weights of the digest `weights` in `folder` were trained on; none where no manifest says so.

    Raises:
        ModelError: a manifest that cannot be read or is too large, or a recipe that is none or of other weights.
    """
    path = folder / MANIFEST
    stated = _stated(path)
    if not isinstance(stated, dict) or stated.get("recipe") is None:
        return None
    if stated.get("weights") != weights:
        raise ModelError(f"{path}: recipe: of weights that are not those beside it; fetch or train the model again")
    try:
        return Recipe.model_validate_json(json.dumps(stated["recipe"]))
    except ValidationError as error:
        raise ModelError(f"{path}: recipe: {describe_invalid(error)}; train it again") from error


def _stated(path: Path) -> Any:
    """The manifest as JSON; none where there is none, or one of another make that is no JSON."""
    if not path.exists():
        return None
    data = read_file(path, MANIFEST_LIMIT)
    try:
        return parse(data).value
    except StrictJsonError:
        return None
