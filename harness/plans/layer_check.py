"""Whether the layers that a preset names exist in its model, by the model's config alone: weights take long to load."""

from typing import Any

from harness.base.errors import ModelError, UsageError
from harness.models.folder.model_folder import open_folder
from harness.models.resolve import locate
from harness.plans.preset import BasePreset, TimedPreset


def check_layers(preset: BasePreset) -> None:
    """Refuse exact layers that the model does not have. A model that is not here yet is checked when it is loaded.

    Raises:
        UsageError: an arm names a layer that is not there.
    """
    named = (
        [arm for arm in preset.arms if isinstance(arm.exact_layers, tuple)] if isinstance(preset, TimedPreset) else []
    )
    count = _layers(preset.model) if named else None
    for arm in named:
        missing = [layer for layer in arm.exact_layers if not 0 <= int(layer) < (count or 0)]
        if count is not None and missing:
            raise UsageError(
                f"arms.{arm.name}.exact_layers: {preset.model} has layers 0 to {count - 1}, not "
                f"{', '.join(map(str, missing))}"
            )


def _layers(model: str) -> int | None:
    """How many layers the config states; none where it states none, or the model is not on this machine."""
    try:
        config = open_folder(locate(model).folder).config
    except ModelError:
        return None
    inner = config.get("text_config")
    stated: Any = (inner if isinstance(inner, dict) else config).get("num_hidden_layers")
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else None
