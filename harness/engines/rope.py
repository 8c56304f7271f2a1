"""RoPE settings where mlx-lm looks for them.

transformers 5 writes RoPE under `rope_parameters`, flat or one dictionary a layer type; mlx-lm's llama, qwen2 and
gemma3 read only top-level keys and otherwise take a default without a word (SmolLM2: 10000 in place of 100000).
"""

from typing import Any

from harness.base.errors import ModelError

PLAIN = ("default", None)


def rope_overrides(config: dict[str, Any]) -> dict[str, Any]:
    """The keys to add to `config` so that mlx-lm runs the model as transformers does; empty if nothing is missing.

    A nested `text_config` is completed too, and returned whole.

    Raises:
        ModelError: layer types that mlx-lm's Gemma cannot express (not one full layer closing each period).
    """
    overrides = _rope(config) | _pattern(config)
    nested = config.get("text_config")
    if isinstance(nested, dict):
        inner = rope_overrides(nested)
        if inner:
            overrides["text_config"] = {**nested, **inner}
    return overrides


def _rope(config: dict[str, Any]) -> dict[str, Any]:
    """`rope_theta`, `rope_scaling` and Gemma's `rope_local_base_freq` out of `rope_parameters`."""
    parameters = config.get("rope_parameters")
    if not isinstance(parameters, dict):
        return {}
    full, local = parameters, None
    if isinstance(parameters.get("full_attention"), dict):
        full, local = parameters["full_attention"], parameters.get("sliding_attention")
    found = {"rope_theta": full.get("rope_theta")}
    if full.get("rope_type", full.get("type")) not in PLAIN:
        found["rope_scaling"] = {key: value for key, value in full.items() if key != "rope_theta"}
    if isinstance(local, dict):
        found["rope_local_base_freq"] = local.get("rope_theta")
    return {key: value for key, value in found.items() if value is not None and config.get(key) is None}


def _pattern(config: dict[str, Any]) -> dict[str, Any]:
    """Gemma's `sliding_window_pattern` out of `layer_types`, which transformers 5 writes instead of it."""
    kinds = config.get("layer_types")
    if not str(config.get("model_type", "")).startswith("gemma3") or not kinds or "sliding_window_pattern" in config:
        return {}
    period = kinds.index("full_attention") + 1 if "full_attention" in kinds else len(kinds) + 1
    expected = ["sliding_attention" if (index + 1) % period else "full_attention" for index in range(len(kinds))]
    if kinds != expected:
        raise ModelError("config.json: layer_types is no repeated pattern of sliding layers closed by a full one")
    return {"sliding_window_pattern": period}
