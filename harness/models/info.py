"""What a report says about a model, read from its folder without loading it."""

from collections.abc import Sequence
from typing import Any, Literal

from harness.models.faithfulness import load_faithfulness
from harness.models.folder.model_folder import open_folder
from harness.models.folder.weights import WeightFile
from harness.models.recipe import recipe_of
from harness.models.resolve import ResolvedModel
from reports.records.provenance import ModelInfo

Role = Literal["verifier", "drafter", "f_theta", "proposer"]

_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def model_info(model: ResolvedModel, role: Role) -> ModelInfo:
    """The provenance record of `model`; `faithfulness` is there if the model was verified on MLX as it is now.

    Raises:
        ModelError: config or weights are missing or damaged.
    """
    folder = open_folder(model.folder)
    config = folder.config
    return ModelInfo(
        role=role,
        id=model.id,
        revision=model.revision,
        weights=model.weights,
        config=model.identity.config,
        tokenizer=model.identity.tokenizer,
        code=folder.code or None,
        architecture=architecture(config),
        layer_types=layer_types(config),
        quantisation=model.quantisation or _quantisation(config),
        dtype=stored_dtype(folder.weights),
        recipe=recipe_of(model.folder, model.weights),
        faithfulness=load_faithfulness(model.identity),
    )


def architecture(config: dict[str, Any]) -> str:
    """The class the config names, else its model type."""
    names = config.get("architectures")
    if isinstance(names, str):
        names = [names]
    if isinstance(names, list) and names and isinstance(names[0], str) and names[0]:
        return names[0][:200]
    return str(config["model_type"])[:200]


def layer_types(config: dict[str, Any]) -> tuple[str, ...] | None:
    """One name a layer: as listed, else by Gemma's pattern, else full attention; None without a layer count."""
    settings = _of_text(config)
    listed, layers = settings.get("layer_types"), settings.get("num_hidden_layers")
    if isinstance(listed, list) and listed and all(isinstance(kind, str) and kind for kind in listed):
        return tuple(listed)
    if not isinstance(layers, int) or not 0 < layers <= 10_000:
        return None
    period = settings.get("sliding_window_pattern")
    if not isinstance(period, int) or period < 1:
        return ("full_attention",) * layers
    return tuple("sliding_attention" if (layer + 1) % period else "full_attention" for layer in range(layers))


def positions(config: dict[str, Any]) -> int | None:
    """How many tokens a text of the model may have, drafts and answer included; None where its config does not say.

    A config that stretches rotary positions (`rope_scaling`, `rope_parameters`) tells the number before or after that,
    as its author liked, so it says nothing.
    """
    settings = _of_text(config)
    ropes = (settings.get("rope_scaling"), settings.get("rope_parameters"))
    stretched = any(isinstance(rope, dict) and "factor" in rope for rope in ropes)
    most = settings.get("max_position_embeddings")
    return most if isinstance(most, int) and not isinstance(most, bool) and most > 0 and not stretched else None


def _of_text(config: dict[str, Any]) -> dict[str, Any]:
    """The settings of the model of text, which one of several kinds keeps in a table of their own."""
    text = config.get("text_config")
    return text if isinstance(text, dict) else config


def stored_dtype(weights: Sequence[WeightFile]) -> str | None:
    """The floating-point type most values of the weight files have; of quantised weights, that of their scales."""
    totals: dict[str, int] = {}
    for file in weights:
        for tensor in file.tensors:
            if tensor.dtype in _DTYPES:
                totals[tensor.dtype] = totals.get(tensor.dtype, 0) + tensor.values
    return _DTYPES[max(totals, key=lambda kind: totals[kind])] if totals else None


def _quantisation(config: dict[str, Any]) -> str | None:
    settings = config.get("quantization")
    if not isinstance(settings, dict) or not settings:
        return None
    return f"{settings.get('mode', 'affine')} {settings.get('bits')}-bit, group {settings.get('group_size')}"[:200]
