"""The DFlash drafter in PyTorch: the reference that the MLX drafter is held to, written apart from it.

Deliberately plain: no growing buffers, no slicing of sliding layers (a mask does it), RoPE written out. It keeps the
context K/V of every position.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from harness.base.errors import EngineError, ModelError
from harness.engines.dflash_config import DflashConfig, DflashLayerKind
from harness.engines.draft_vocab import TENSOR, check_draft_vocab
from harness.models.folder.model_folder import open_folder

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class TorchContext:
    """Context K/V a layer, each (1, K/V heads, positions, head size), and how many positions there are."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    length: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all K/V."""
        return sum(tensor.numel() * tensor.element_size() for tensor in (*self.keys, *self.values))


class TorchDflash:
    """A checkpoint with the verifier's embedding table and head, (vocabulary, hidden) each."""

    def __init__(
        self, folder: Path, config: DflashConfig, table: Tensor, head: Tensor, softcap: float | None, dtype: str | None
    ) -> None:
        """Load the weights as `dtype`, the checkpoint's own if None.

        Raises:
            ModelError: a tensor is missing or left over, or the draft vocabulary is not this verifier's.
            EngineError: a scaled RoPE, which this reference does not have.
        """
        if config.rope_scaling is not None:
            raise EngineError("dflash-torch: rope_scaling is not supported by the reference; use dflash")
        self.config = config
        self._weights = {name: tensor.to(table.device) for name, tensor in _read(folder, config).items()}
        self._ids = self._weights.pop(TENSOR, None)
        check_draft_vocab(folder, config.draft_vocab, None if self._ids is None else self._ids.tolist(), len(head))
        if dtype is not None:
            self._weights = {name: tensor.to(DTYPES[dtype]) for name, tensor in self._weights.items()}
        self.dtype = self._weights["fc.weight"].dtype
        self._table, self._softcap = table, softcap
        self._head = head if self._ids is None else head[self._ids]
        steps = torch.arange(0, config.head_dim, 2, dtype=torch.float32, device=table.device) / config.head_dim
        self._frequencies = config.rope_theta**-steps

    @torch.inference_mode()
    def extend(self, context: TorchContext, features: Tensor) -> None:
        """Append the K/V of the next positions from `features` (1, L, targets x hidden)."""
        hidden = self._norm("hidden_norm", self._linear("fc", features.to(self.dtype)))
        for layer in range(len(self.config.layer_kinds)):
            keys, values = self._keys_values(layer, hidden, context.length)
            if context.length:
                context.keys[layer] = torch.cat([context.keys[layer], keys], dim=2)
                context.values[layer] = torch.cat([context.values[layer], values], dim=2)
            else:
                context.keys.append(keys)
                context.values.append(values)
        context.length += features.shape[1]

    @torch.inference_mode()
    def propose(self, context: TorchContext, last: int, limit: int, least: float | None = None) -> list[int]:
        """The drafts for the `limit` masked positions after `last`, or the leading ones whose probabilities multiply to
        at least `least`; the context is left as it was."""
        block = torch.tensor([[last, *[self.config.mask_token_id] * limit]], device=self._table.device)
        hidden = functional.embedding(block, self._table).to(self.dtype)
        for layer, kind in enumerate(self.config.layer_kinds):
            name = f"layers.{layer}"
            hidden = hidden + self._attend(layer, kind, self._norm(f"{name}.input_layernorm", hidden), context)
            inner = self._norm(f"{name}.post_attention_layernorm", hidden)
            gate = functional.silu(self._linear(f"{name}.mlp.gate_proj", inner))
            hidden = hidden + self._linear(f"{name}.mlp.down_proj", gate * self._linear(f"{name}.mlp.up_proj", inner))
        logits = functional.linear(self._norm("norm", hidden)[:, 1:].to(self._head.dtype), self._head)
        if self._softcap is not None:
            logits = torch.tanh(logits / self._softcap) * self._softcap
        best = logits[0].argmax(dim=-1)
        tokens: list[int] = (best if self._ids is None else self._ids[best]).tolist()
        if least is None:
            return tokens
        wide = logits[0].float()
        chances = (wide.amax(dim=-1) - wide.logsumexp(dim=-1)).exp()
        return tokens[: int((chances.cumprod(0) >= least).sum())]

    def _attend(self, layer: int, kind: DflashLayerKind, hidden: Tensor, context: TorchContext) -> Tensor:
        length, offset = hidden.shape[1], context.length
        queries = self._heads(layer, "q", hidden, self.config.heads)
        queries = self._rotate(self._norm(f"layers.{layer}.self_attn.q_norm", queries), offset)
        keys, values = self._keys_values(layer, hidden, offset)
        if offset:
            keys = torch.cat([context.keys[layer], keys], dim=2)
            values = torch.cat([context.values[layer], values], dim=2)
        positions = torch.arange(offset + length, device=hidden.device)
        distance = positions[offset:, None] - positions[None]
        seen = distance >= 0 if kind.causal else torch.ones_like(distance, dtype=torch.bool)
        if kind.window is not None:
            seen &= distance.abs() < kind.window
        groups = self.config.heads // self.config.kv_heads
        output = functional.scaled_dot_product_attention(
            queries, keys.repeat_interleave(groups, 1), values.repeat_interleave(groups, 1), attn_mask=seen
        )
        return self._linear(f"layers.{layer}.self_attn.o_proj", output.transpose(1, 2).reshape(1, length, -1))

    def _keys_values(self, layer: int, hidden: Tensor, offset: int) -> tuple[Tensor, Tensor]:
        keys = self._norm(f"layers.{layer}.self_attn.k_norm", self._heads(layer, "k", hidden, self.config.kv_heads))
        return self._rotate(keys, offset), self._heads(layer, "v", hidden, self.config.kv_heads)

    def _heads(self, layer: int, which: str, hidden: Tensor, count: int) -> Tensor:
        """(1, heads, L, head size)."""
        projected = self._linear(f"layers.{layer}.self_attn.{which}_proj", hidden)
        return projected.view(1, hidden.shape[1], count, self.config.head_dim).transpose(1, 2)

    def _rotate(self, heads: Tensor, offset: int) -> Tensor:
        """RoPE, first half against second half, angles in float32."""
        angles = torch.arange(offset, offset + heads.shape[2], device=heads.device)[:, None] * self._frequencies
        first, second = heads.float().chunk(2, dim=-1)
        cosine, sine = angles.cos(), angles.sin()
        turned = torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
        return turned.to(heads.dtype)

    def _norm(self, name: str, hidden: Tensor) -> Tensor:
        """RMS norm over the last axis, computed in float32."""
        wide = hidden.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.config.norm_eps)
        return self._weights[f"{name}.weight"] * wide.to(hidden.dtype)

    def _linear(self, name: str, hidden: Tensor) -> Tensor:
        return functional.linear(hidden, self._weights[f"{name}.weight"])


def _read(folder: Path, config: DflashConfig) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for file in open_folder(folder).weights:
        weights.update(load_file(file.path))
    expected = set(tensor_names(len(config.layer_kinds)))
    wrong = sorted(expected ^ (set(weights) - {TENSOR}))
    if wrong:
        raise ModelError(f"{folder}: the weights are not of the published DFlash layout: {wrong[0]}")
    return weights


def tensor_names(layers: int) -> Sequence[str]:
    """The tensors of a checkpoint."""
    attention = [f"self_attn.{part}" for part in ("q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm")]
    mlp = [f"mlp.{part}_proj" for part in ("gate", "up", "down")]
    parts = [*attention, *mlp, "input_layernorm", "post_attention_layernorm"]
    inside = [f"layers.{layer}.{part}.weight" for layer in range(layers) for part in parts]
    return ["fc.weight", "hidden_norm.weight", "norm.weight", *inside]
