"""A DFlash drafter as it is trained: the published layers, many blocks of many sequences in one forward.

The third implementation of the architecture, after the MLX engine and the reference, and held to both by a test. It
differs in what it computes at once, not in what it computes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from harness.engines.dflash_config import DflashConfig

QUIET = 0.3
"""Of the verifier's final norm: with all of it the first logits of an untrained drafter are loud and wrong."""


@dataclass(frozen=True)
class Anchored:
    """One sequence and the blocks to propose in it: `features` (C, layers x hidden) of its first C positions, and
    for each block the position of its first token, all at most C."""

    features: Tensor
    anchors: Tensor

    def to(self, device: torch.device) -> "Anchored":
        """The same on `device`."""
        return Anchored(self.features.to(device), self.anchors.to(device))


class DrafterAttention(nn.Module):
    """Grouped-query attention with norms on queries and keys."""

    def __init__(self, config: DflashConfig) -> None:
        super().__init__()
        self.config = config
        hidden, queries, keys = (
            config.hidden_size,
            config.heads * config.head_dim,
            config.kv_heads * config.head_dim,
        )
        self.q_proj = nn.Linear(hidden, queries, bias=False)
        self.k_proj = nn.Linear(hidden, keys, bias=False)
        self.v_proj = nn.Linear(hidden, keys, bias=False)
        self.o_proj = nn.Linear(queries, hidden, bias=False)
        self.q_norm = nn.RMSNorm(config.head_dim, eps=config.norm_eps)
        self.k_norm = nn.RMSNorm(config.head_dim, eps=config.norm_eps)

    def queries(self, hidden: Tensor, turns: Tensor) -> Tensor:
        """(heads, N, head size) of (N, hidden)."""
        split = self.q_proj(hidden).view(len(hidden), self.config.heads, self.config.head_dim)
        return rotate(self.q_norm(split).transpose(0, 1), turns)

    def keys_values(self, hidden: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
        """(K/V heads, N, head size) each."""
        shape = (len(hidden), self.config.kv_heads, self.config.head_dim)
        keys = rotate(self.k_norm(self.k_proj(hidden).view(shape)).transpose(0, 1), turns)
        return keys, self.v_proj(hidden).view(shape).transpose(0, 1)


class DrafterMLP(nn.Module):
    """Gated, with SiLU."""

    def __init__(self, config: DflashConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """(N, hidden) to the same."""
        output: Tensor = self.down_proj(functional.silu(self.gate_proj(hidden)) * self.up_proj(hidden))
        return output


class DrafterLayer(nn.Module):
    """Attention and MLP, each behind a norm."""

    def __init__(self, config: DflashConfig) -> None:
        super().__init__()
        self.self_attn = DrafterAttention(config)
        self.mlp = DrafterMLP(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)


class DrafterNet(nn.Module):
    """The drafter without embedding and head. `scale` (layers x hidden,) divides the features before `fc`, so that
    loud and quiet channels learn alike; an exported `fc` has it folded in."""

    def __init__(self, config: DflashConfig, scale: Tensor) -> None:
        super().__init__()
        self.config = config
        self.scale: Tensor
        self.register_buffer("scale", scale, persistent=False)
        self.fc = nn.Linear(len(config.target_layer_ids) * config.hidden_size, config.hidden_size, bias=False)
        self.hidden_norm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)
        self.layers = nn.ModuleList(DrafterLayer(config) for _ in config.layer_kinds)
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)

    def forward(self, sequences: Sequence[Anchored], embedded: Tensor) -> Tensor:
        """Hidden states (blocks, block size, hidden) after the final norm, the blocks of all sequences in order.

        `embedded`, of the same shape, are the rows of the verifier's table for the tokens of the blocks.
        """
        size, device = embedded.shape[1], embedded.device
        features = torch.cat([sequence.features for sequence in sequences]).float()
        context = self.hidden_norm(self.fc(features / self.scale))
        lengths = [len(sequence.features) for sequence in sequences]
        read = self._turns(torch.cat([torch.arange(length, device=device) for length in lengths]))
        starts = torch.cat([sequence.anchors for sequence in sequences])
        drafted = self._turns((starts[:, None] + torch.arange(size, device=device)).flatten())
        blocks = [len(sequence.anchors) * size for sequence in sequences]
        hidden = embedded.flatten(0, 1)
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, DrafterLayer)
            held = layer.self_attn.keys_values(context, read)
            masks = [self._seen(index, sequence, size) for sequence in sequences]
            inner = layer.input_layernorm(hidden)
            queries, (keys, values) = (
                layer.self_attn.queries(inner, drafted),
                layer.self_attn.keys_values(inner, drafted),
            )
            parts = zip(
                torch.split(queries, blocks, 1),
                torch.split(keys, blocks, 1),
                torch.split(values, blocks, 1),
                torch.split(held[0], lengths, 1),
                torch.split(held[1], lengths, 1),
                masks,
                strict=True,
            )
            attended = torch.cat([self._attend(*part) for part in parts], dim=1)
            hidden = hidden + layer.self_attn.o_proj(attended.transpose(0, 1).flatten(1))
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        normed: Tensor = self.norm(hidden)
        return normed.view(embedded.shape)

    def _attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, held_keys: Tensor, held_values: Tensor, mask: Tensor
    ) -> Tensor:
        groups = self.config.heads // self.config.kv_heads
        keys = torch.cat([held_keys, keys], dim=1).repeat_interleave(groups, 0)
        values = torch.cat([held_values, values], dim=1).repeat_interleave(groups, 0)
        # Under autocast the norms put out a wider type than the projections.
        queries, keys = queries.to(values.dtype), keys.to(values.dtype)
        return functional.scaled_dot_product_attention(queries[None], keys[None], values[None], attn_mask=mask)[0]

    def _seen(self, index: int, sequence: Anchored, size: int) -> Tensor:
        """(blocks x size, context + blocks x size): a block sees the context before its anchor, and itself."""
        kind, anchors, count = self.config.layer_kinds[index], sequence.anchors, len(sequence.features)
        read = torch.arange(count, device=anchors.device)
        query = (anchors[:, None] + torch.arange(size, device=anchors.device)).flatten()
        block = torch.arange(len(anchors), device=anchors.device).repeat_interleave(size)
        places = torch.cat([read, query])
        before = read[None] < anchors.repeat_interleave(size)[:, None]
        seen = torch.cat([before, block[:, None] == block[None]], dim=1)
        distance = query[:, None] - places[None]
        if kind.causal:
            seen &= distance >= 0
        if kind.window is not None:
            seen &= distance.abs() < kind.window
        return seen

    def _turns(self, positions: Tensor) -> Tensor:
        """Angles (N, head size / 2) of RoPE."""
        head_dim = self.config.head_dim
        steps = torch.arange(0, head_dim, 2, dtype=torch.float32, device=positions.device) / head_dim
        return positions[:, None].float() * self.config.rope_theta**-steps


def rotate(heads: Tensor, turns: Tensor) -> Tensor:
    """RoPE, first half against second half, in float32."""
    first, second = heads.float().chunk(2, dim=-1)
    cosine, sine = turns.cos(), turns.sin()
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def initialise(net: DrafterNet, seed: int, final_norm: Tensor) -> None:
    """Seeded normal weights, drawn on the CPU, where `net` must still be; what writes to the residual stream starts
    small; the last norm is the verifier's own, quieter."""
    generator = torch.Generator().manual_seed(seed)
    depth = max(1, len(net.layers))
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if parameter.ndim == 1:
                continue
            deviation = parameter.shape[1] ** -0.5
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                deviation *= (2 * depth) ** -0.5
            parameter.normal_(0, deviation, generator=generator)
        net.norm.weight.copy_(QUIET * final_norm)
