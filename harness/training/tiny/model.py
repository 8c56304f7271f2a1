"""The module of k3-tiny: gemma3_text's forward in plain torch, its parameters named as transformers names them.

The sliding layers attend in blocks of one window (each block of queries sees its own and the block before), which
costs a fraction of masked full attention. That this is the model which transformers and mlx-lm run is not taken for
granted: `k3 models verify k3-tiny` compares logits.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

EPS = 1e-6


@dataclass(frozen=True)
class TinyConfig:
    """Sizes. Every `period`-th layer attends to everything, the others to `window` positions including their own.

    sqrt(hidden) is a whole number that bfloat16 holds, since mlx-lm rounds the embedding scale to it.
    """

    vocab: int
    hidden: int = 256
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    intermediate: int = 320
    window: int = 64
    period: int = 2
    theta: float = 1_000_000.0
    local_theta: float = 10_000.0
    query_scalar: int = 16

    def is_full(self, layer: int) -> bool:
        """The layer attends to everything."""
        return (layer + 1) % self.period == 0

    def settings(self) -> dict[str, Any]:
        """config.json without the special tokens: RoPE both as mlx-lm reads it and as transformers 5 does."""
        kinds = ["full_attention" if self.is_full(layer) else "sliding_attention" for layer in range(self.layers)]
        return {
            "architectures": ["Gemma3ForCausalLM"],
            "model_type": "gemma3_text",
            "dtype": "float32",
            "hidden_activation": "gelu_pytorch_tanh",
            "hidden_size": self.hidden,
            "intermediate_size": self.intermediate,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "query_pre_attn_scalar": self.query_scalar,
            "max_position_embeddings": 4096,
            "rms_norm_eps": EPS,
            "sliding_window": self.window,
            "sliding_window_pattern": self.period,
            "layer_types": kinds,
            "rope_theta": self.theta,
            "rope_local_base_freq": self.local_theta,
            "rope_parameters": {
                "full_attention": {"rope_theta": self.theta, "rope_type": "default"},
                "sliding_attention": {"rope_theta": self.local_theta, "rope_type": "default"},
            },
            "attention_bias": False,
            "attn_logit_softcapping": None,
            "final_logit_softcapping": None,
            "tie_word_embeddings": True,
            "vocab_size": self.vocab,
        }


class Norm(nn.Module):
    """RMS norm whose weight is stored without the 1 that is added to it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """(..., size) to the same."""
        return functional.rms_norm(values, values.shape[-1:], (1.0 + self.weight).to(values.dtype), EPS)


class TinyAttention(nn.Module):
    """Grouped-query attention with normed queries and keys, sliding or full."""

    def __init__(self, config: TinyConfig, full: bool) -> None:
        super().__init__()
        self.config, self.full = config, full
        width, narrow = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden, width, bias=False)
        self.k_proj = nn.Linear(config.hidden, narrow, bias=False)
        self.v_proj = nn.Linear(config.hidden, narrow, bias=False)
        self.o_proj = nn.Linear(width, config.hidden, bias=False)
        self.q_norm, self.k_norm = Norm(config.head_dim), Norm(config.head_dim)

    def forward(self, hidden: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """(B, L, hidden) to the same; L is a multiple of the window."""
        config = self.config
        batch, length, _ = hidden.shape
        shape = (batch, length, -1, config.head_dim)
        queries = apply_rope(self.q_norm(self.q_proj(hidden).view(shape)).transpose(1, 2), rope)
        keys = apply_rope(self.k_norm(self.k_proj(hidden).view(shape)).transpose(1, 2), rope)
        values = self.v_proj(hidden).view(shape).transpose(1, 2)
        shared = config.heads // config.kv_heads
        keys, values = keys.repeat_interleave(shared, 1), values.repeat_interleave(shared, 1)
        scale = config.query_scalar**-0.5
        if self.full:
            mixed = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True, scale=scale)
        else:
            mixed = windowed(queries, keys, values, config.window, scale)
        projected: torch.Tensor = self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))
        return projected


class TinyMLP(nn.Module):
    """Gated GELU, tanh approximation."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.intermediate, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.intermediate, bias=False)
        self.down_proj = nn.Linear(config.intermediate, config.hidden, bias=False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """(B, L, hidden) to the same."""
        gate = functional.gelu(self.gate_proj(hidden), approximate="tanh")
        out: torch.Tensor = self.down_proj(gate * self.up_proj(hidden))
        return out


class TinyLayer(nn.Module):
    """Attention and MLP, each normed before and after."""

    def __init__(self, config: TinyConfig, full: bool) -> None:
        super().__init__()
        self.self_attn, self.mlp = TinyAttention(config, full), TinyMLP(config)
        self.input_layernorm, self.post_attention_layernorm = Norm(config.hidden), Norm(config.hidden)
        self.pre_feedforward_layernorm, self.post_feedforward_layernorm = Norm(config.hidden), Norm(config.hidden)

    def forward(self, hidden: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """(B, L, hidden) to the same."""
        hidden = hidden + self.post_attention_layernorm(self.self_attn(self.input_layernorm(hidden), rope))
        out: torch.Tensor = hidden + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(hidden)))
        return out


class Body(nn.Module):
    """Everything below the head."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab, config.hidden)
        self.layers = nn.ModuleList(TinyLayer(config, config.is_full(layer)) for layer in range(config.layers))
        self.norm = Norm(config.hidden)


class TinyModel(nn.Module):
    """Token ids (B, L) to hidden states, and hidden states to logits by the tied head."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.config = config
        self.model = Body(config)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=weight.shape[1] ** -0.5)

    def hidden(self, tokens: torch.Tensor) -> torch.Tensor:
        """Normed hidden states (B, L, hidden) of token ids (B, L), L a multiple of the window."""
        config = self.config
        ropes = {
            full: rope(tokens.shape[1], config.head_dim, config.theta if full else config.local_theta)
            for full in (False, True)
        }
        hidden = self.model.embed_tokens(tokens) * config.hidden**0.5
        for number, layer in enumerate(self.model.layers):
            hidden = layer(hidden, ropes[config.is_full(number)])
        normed: torch.Tensor = self.model.norm(hidden)
        return normed

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(..., hidden) to (..., vocab)."""
        return functional.linear(hidden, self.model.embed_tokens.weight)


def rope(length: int, size: int, theta: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines (L, size / 2) of positions from 0."""
    speeds = theta ** -(torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = torch.arange(length, dtype=torch.float32)[:, None] * speeds
    return angles.cos(), angles.sin()


def apply_rope(values: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """RoPE on (B, heads, L, size), the first half of a head paired with the second."""
    cosine, sine = rope
    first, second = values.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def windowed(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int, scale: float
) -> torch.Tensor:
    """Attention of (B, heads, L, size) to the last `window` positions including a query's own."""
    batch, heads, length, size = queries.shape
    blocks = (batch, heads, length // window, window, size)

    def with_previous(kept: torch.Tensor) -> torch.Tensor:
        cut = kept.view(blocks)
        return torch.cat((functional.pad(cut, (0, 0, 0, 0, 1, 0))[:, :, :-1], cut), dim=3).flatten(0, 2)[:, None]

    distance = torch.arange(window)[:, None] + window - torch.arange(2 * window)
    visible = ((distance >= 0) & (distance < window)).expand(length // window, 1, window, 2 * window).clone()
    visible[0, :, :, :window] = False
    mask = visible.repeat(batch * heads, 1, 1, 1)
    cut = queries.view(blocks).flatten(0, 2)[:, None]
    mixed = functional.scaled_dot_product_attention(
        cut, with_previous(keys), with_previous(values), attn_mask=mask, scale=scale
    )
    return mixed.view(batch, heads, length, size)
