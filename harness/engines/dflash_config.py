"""The config.json of a DFlash checkpoint, as published: a Qwen3-like stack with a `dflash_config`. No tensors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import EngineError, ModelError
from harness.engines.draft_vocab import CONFIG_KEY
from harness.engines.rope import rope_overrides
from harness.models.folder.model_folder import open_folder

SLIDING, FULL = "sliding_attention", "full_attention"
UNSUPPORTED = ("conv_kernel_size", "selector_rank", "fc_layernorm", "attention_sink_bias")
"""Of later checkpoints (DFlash 2 and others): parts that run before or after the layers known here."""


@dataclass(frozen=True)
class DflashLayerKind:
    """How a layer of the drafter attends: the positions a query looks back, None for all, and whether it looks ahead
    within the block (`causal` false) or not."""

    window: int | None
    causal: bool


@dataclass(frozen=True)
class DflashConfig:
    """Shapes of a drafter and where it plugs into its verifier; `block_size` is the one it was trained for, and
    `draft_vocab` the number of tokens it can propose, None for all of the verifier's."""

    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    head_dim: int
    norm_eps: float
    rope_theta: float
    rope_scaling: dict[str, Any] | None
    max_position_embeddings: int
    target_layer_ids: tuple[int, ...]
    mask_token_id: int
    block_size: int
    layer_kinds: tuple[DflashLayerKind, ...]
    draft_vocab: int | None = None


def read_dflash_config(folder: Path) -> DflashConfig:
    """The drafter in `folder`.

    Raises:
        ModelError: a field is missing or of another type, or the checkpoint has parts that are not supported.
    """
    path = folder / "config.json"
    config = open_folder(folder).config
    fields = _Fields(path, config, config.get("dflash_config"))
    _check_supported(fields)
    rope = rope_overrides(config)
    heads, hidden = fields.count("num_attention_heads"), fields.count("hidden_size")
    targets = fields.find("target_layer_ids")
    if not isinstance(targets, list) or not targets or not all(type(index) is int and index >= 0 for index in targets):
        raise ModelError(
            f"{path}: target_layer_ids: {targets!r} is no list of layer numbers; this is no DFlash drafter"
        )
    return DflashConfig(
        hidden_size=hidden,
        intermediate_size=fields.count("intermediate_size"),
        heads=heads,
        kv_heads=fields.count("num_key_value_heads"),
        head_dim=fields.count("head_dim", hidden // heads),
        norm_eps=float(fields.find("rms_norm_eps", 1e-6)),
        rope_theta=float(rope.get("rope_theta", config.get("rope_theta", 10000.0))),
        rope_scaling=rope.get("rope_scaling", config.get("rope_scaling")),
        max_position_embeddings=fields.count("max_position_embeddings", 32768),
        target_layer_ids=tuple(targets),
        mask_token_id=fields.count("mask_token_id", least=0),
        block_size=fields.count("block_size"),
        layer_kinds=_layer_kinds(fields),
        draft_vocab=None if fields.find(CONFIG_KEY) is None else fields.count(CONFIG_KEY),
    )


def check_drafter_fits(config: DflashConfig, hidden_size: int, vocab: int) -> None:
    """Raises: EngineError: another hidden size than the verifier's, or a mask token that is none of its `vocab`."""
    if config.hidden_size != hidden_size:
        raise EngineError(f"dflash: hidden_size {config.hidden_size}, the verifier's is {hidden_size}; not its drafter")
    if config.mask_token_id >= vocab:
        raise EngineError(f"dflash: mask_token_id {config.mask_token_id} is none of the verifier's {vocab} tokens")


@dataclass(frozen=True)
class _Fields:
    """Looks a field up in `dflash_config` first, then at the top."""

    path: Path
    top: dict[str, Any]
    nested: Any

    def find(self, name: str, default: Any = None) -> Any:
        for place in (self.nested, self.top):
            if isinstance(place, dict) and place.get(name) is not None:
                return place[name]
        return default

    def count(self, name: str, default: int | None = None, least: int = 1) -> int:
        value = self.find(name, default)
        if type(value) is not int or value < least:
            raise ModelError(f"{self.path}: {name}: {value!r} is no integer from {least} on; this is no DFlash drafter")
        return value


def _check_supported(fields: _Fields) -> None:
    for name in UNSUPPORTED:
        if fields.find(name):
            raise ModelError(f"{fields.path}: {name}: checkpoints with it are not supported; use a DFlash 1 drafter")
    if fields.find("attention_bias", False) or fields.find("hidden_act", "silu") != "silu":
        raise ModelError(f"{fields.path}: attention_bias, hidden_act: only Qwen3's own (none, silu) are supported")


def _layer_kinds(fields: _Fields) -> tuple[DflashLayerKind, ...]:
    """One kind a layer.

    Published drafters say `is_causal` (`causal` in some exports); where they do not, their reference code lets a
    full layer see the whole block and a sliding layer only what comes before.
    """
    layers = fields.count("num_hidden_layers")
    types = fields.find("layer_types", [FULL] * layers)
    if not isinstance(types, list) or len(types) != layers or not set(types) <= {SLIDING, FULL}:
        raise ModelError(f"{fields.path}: layer_types: {types!r} is not {layers} of {FULL} and {SLIDING}")
    window = fields.count("sliding_window") if SLIDING in types else None
    stated = fields.find("is_causal", fields.find("causal"))
    return tuple(
        DflashLayerKind(window if kind == SLIDING else None, bool(kind == SLIDING if stated is None else stated))
        for kind in types
    )
