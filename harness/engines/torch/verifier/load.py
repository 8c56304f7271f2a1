"""Loads a verifier with transformers from a folder: safetensors alone, and no code of the folder's own."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
import transformers

from harness.base.errors import ModelError
from harness.engines.architecture import Architecture, CacheLayer
from harness.engines.torch.device import Device, open_device
from harness.engines.torch.verifier.forward import logits_after, native_cache, tokens_on
from harness.models.folder.model_folder import GENERATION, ModelFolder, open_folder
from harness.models.info import architecture
from harness.models.library_errors import told_in_one_line
from harness.models.tokenizer import open_tokenizer
from reports.engines import TORCH, Backend

SHOWN = 3
ATTENTION = "sdpa"
"""PyTorch's own, the same on every device; which kernel it takes there is for PyTorch to choose."""


@dataclass(frozen=True)
class Verifier:
    """A loaded model, its tokenizer, what it is, where it is, and the folder it was loaded from, if any."""

    model: Any
    tokenizer: Any
    architecture: Architecture
    device: Device
    folder: Path | None = None
    backend: ClassVar[Backend] = TORCH
    drafters: dict[tuple[str | int | None, ...], Any] = field(default_factory=dict, compare=False, repr=False)
    """Drafters already loaded for it, by kind, folder, weights, type and bits, so that arms share them."""

    @property
    def attention(self) -> str:
        """The implementation of attention that transformers runs."""
        return str(self.model.config._attn_implementation)


def load_verifier(folder: Path, device: str = "cpu", dtype: str | None = None) -> Verifier:
    """Load weights, as `dtype` or in the type they are stored in, and tokenizer. Nothing is fetched.

    Raises:
        ModelError: as `open_folder` and `open_tokenizer`; code of its own, weights quantised for MLX, an architecture
            that transformers does not know, or tensors that are not those it has.
        CannotRunError: PyTorch has no such device here.
    """
    opened, placed = open_folder(folder), open_device(device)
    if opened.code:
        raise ModelError(f"{folder}: brings code of its own ({opened.code[0]}), which is never run on PyTorch")
    if opened.config.get("quantization"):
        raise ModelError(f"{folder}: weights quantised for MLX: take the model as its makers publish it for PyTorch")
    tokenizer = open_tokenizer(opened)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    version = transformers.__version__
    with told_in_one_line(f"{folder}: transformers {version} cannot load it", "see whether config.json is of these"):
        model, found = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype or "auto",
            attn_implementation=ATTENTION,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        # Nothing requires a gradient, so none is ever prepared, in whatever thread an engine runs.
        model = model.eval().requires_grad_(False).to(placed.name)
    wrong = sorted(str(name) for kind in ("missing_keys", "mismatched_keys") for name in found[kind])
    if wrong:
        raise ModelError(f"{folder}: weights lack {', '.join(wrong[:SHOWN])}, which transformers would make up")
    described = read_architecture(model, opened.config, tuple(sorted(_ends(opened, tokenizer))))
    return Verifier(model, tokenizer, described, placed, folder)


def read_architecture(model: Any, config: dict[str, Any], eos_ids: tuple[int, ...]) -> Architecture:
    """Run one token through `model` with its native cache and read off what the cache then holds.

    Raises:
        ModelError: it cannot run, or a layer caches something else than K/V.
    """
    with told_in_one_line(f"a {config['model_type']} of this config cannot run", "take the config of these weights"):
        cache = native_cache(model)
        logits = logits_after(model, cache, tokens_on(model, [0]))
        layers = tuple(_cache_layer(layer) for layer in cache.layers)
    _, kv_heads, _, head_dim = cache.layers[0].keys.shape
    return Architecture(
        name=architecture(config),
        layers=len(layers),
        layer_types=tuple(layer.kind for layer in layers),
        sliding_window=max((layer.native_window for layer in layers if layer.native_window), default=None),
        kv_heads=kv_heads,
        head_dim=head_dim,
        cache_layers=layers,
        dtype=str(cache.layers[0].keys.dtype).removeprefix("torch."),
        quantisation=None,
        vocab=logits.shape[-1],
        eos_ids=eos_ids,
    )


def _cache_layer(layer: Any) -> CacheLayer:
    per_token = (layer.keys.nbytes + layer.values.nbytes) // layer.keys.shape[2]
    if layer.is_sliding:
        return CacheLayer("sliding_attention", per_token, int(layer.sliding_window))
    return CacheLayer("full_attention", per_token)


def _ends(opened: ModelFolder, tokenizer: Any) -> set[int]:
    """Tokens that end a text, as the tokenizer and both configs say."""
    said = [tokenizer.eos_token_id]
    for settings in (opened.config, opened.settings.get(GENERATION, {})):
        named = settings.get("eos_token_id")
        said += named if isinstance(named, list) else [named]
    return {int(token) for token in said if token is not None}


def blas_name() -> str:
    """The BLAS that matrix products on a CPU go through."""
    return "PyTorch's own, with MKL" if "USE_MKL=ON" in torch.__config__.show() else "PyTorch's own"


def threads() -> int:
    """Threads PyTorch computes with on a CPU."""
    return torch.get_num_threads()
