"""The DFlash drafter's layers in MLX (Chen et al., "DFlash: Block Diffusion for Flash Speculative Decoding", 2026).

Context K/V come from the verifier's hidden states, never from the drafter's own; queries are the block alone.
"""

import mlx.core as mx
from mlx import nn
from mlx_lm.models.rope_utils import initialize_rope

from harness.engines.dflash_config import DflashConfig, DflashLayerKind

GROWTH = 256


class LayerContext:
    """K/V of committed positions in one layer, (1, K/V heads, positions, head size); `offset` is the next position.

    A sliding layer keeps the `window - 1` positions that a block's first query can still see.
    """

    def __init__(self, window: int | None) -> None:
        self.offset = 0
        self._window = window
        self._used = 0
        self._keys: mx.array | None = None
        self._values: mx.array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, spare room included."""
        return 0 if self._keys is None or self._values is None else int(self._keys.nbytes + self._values.nbytes)

    def append(self, keys: mx.array, values: mx.array) -> None:
        """Add the K/V of the next positions."""
        added = keys.shape[2]
        self.offset += added
        if self._window is None:
            self._keys = self._grown(self._keys, keys)
            self._values = self._grown(self._values, values)
            self._used += added
            return
        keep = self._window - 1
        if self._keys is not None and self._values is not None:
            keys = mx.concatenate([self._keys, keys], axis=2)
            values = mx.concatenate([self._values, values], axis=2)
        start = max(0, keys.shape[2] - keep)
        self._keys, self._values = keys[:, :, start:], values[:, :, start:]
        self._used = keys.shape[2] - start

    def arrays(self) -> list[mx.array]:
        """What is held, for evaluation."""
        return [array for array in (self._keys, self._values) if array is not None]

    def with_block(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Context and block, in the order of positions; the block is not kept."""
        if self._keys is None or self._values is None:
            return keys, values
        held_keys, held_values = self._keys[:, :, : self._used], self._values[:, :, : self._used]
        return mx.concatenate([held_keys, keys], axis=2), mx.concatenate([held_values, values], axis=2)

    def _grown(self, held: mx.array | None, added: mx.array) -> mx.array:
        """`added` written behind the used part of `held`, which grows by a fixed step."""
        end = self._used + added.shape[2]
        if held is None or end > held.shape[2]:
            room = -(-end // GROWTH) * GROWTH - (0 if held is None else held.shape[2])
            spare = mx.zeros((*added.shape[:2], room, added.shape[3]), added.dtype)
            held = spare if held is None else mx.concatenate([held, spare], axis=2)
        held[:, :, self._used : end] = added
        return held


class DflashAttention(nn.Module):
    """Grouped-query attention of a block over context and itself, with norms on queries and keys."""

    def __init__(self, config: DflashConfig, kind: DflashLayerKind) -> None:
        super().__init__()
        self._heads, self._kv_heads, self._size = config.heads, config.kv_heads, config.head_dim
        self._kind = kind
        self.q_proj = nn.Linear(config.hidden_size, config.heads * config.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.kv_heads * config.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.kv_heads * config.head_dim, bias=False)
        self.o_proj = nn.Linear(config.heads * config.head_dim, config.hidden_size, bias=False)
        self.q_norm = nn.RMSNorm(config.head_dim, eps=config.norm_eps)
        self.k_norm = nn.RMSNorm(config.head_dim, eps=config.norm_eps)
        self._rope = initialize_rope(
            config.head_dim,
            base=config.rope_theta,
            traditional=False,
            scaling_config=config.rope_scaling,
            max_position_embeddings=config.max_position_embeddings,
        )

    def keys_values(self, hidden: mx.array, offset: int) -> tuple[mx.array, mx.array]:
        """K (after norm and RoPE at `offset` and on) and V of (1, L, hidden)."""
        shape = (1, hidden.shape[1], self._kv_heads, self._size)
        keys = self.k_norm(self.k_proj(hidden).reshape(shape)).transpose(0, 2, 1, 3)
        values = self.v_proj(hidden).reshape(shape).transpose(0, 2, 1, 3)
        return self._rope(keys, offset=offset), values

    def __call__(self, hidden: mx.array, context: LayerContext) -> mx.array:
        length = hidden.shape[1]
        queries = self.q_norm(self.q_proj(hidden).reshape(1, length, self._heads, self._size)).transpose(0, 2, 1, 3)
        queries = self._rope(queries, offset=context.offset)
        keys, values = context.with_block(*self.keys_values(hidden, context.offset))
        mask = block_mask(self._kind, length, keys.shape[2])
        output = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=self._size**-0.5, mask=mask)
        return self.o_proj(output.transpose(0, 2, 1, 3).reshape(1, length, -1))


def block_mask(kind: DflashLayerKind, length: int, total: int) -> mx.array | None:
    """Who sees whom: (length, total), the block's own positions last; None if everybody sees everything."""
    if kind.window is None and not kind.causal:
        return None
    ahead = mx.arange(total)[None] - mx.arange(total - length, total)[:, None]
    seen = ahead <= 0 if kind.causal else mx.ones(ahead.shape, mx.bool_)
    if kind.window is not None:
        seen = seen & (mx.abs(ahead) < kind.window)
    return seen


class DflashMLP(nn.Module):
    """Gated, with SiLU."""

    def __init__(self, config: DflashConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def __call__(self, hidden: mx.array) -> mx.array:
        return self.down_proj(nn.silu(self.gate_proj(hidden)) * self.up_proj(hidden))


class DflashLayer(nn.Module):
    """Attention and MLP, each behind a norm, each added to its input."""

    def __init__(self, config: DflashConfig, kind: DflashLayerKind) -> None:
        super().__init__()
        self.self_attn = DflashAttention(config, kind)
        self.mlp = DflashMLP(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)

    def __call__(self, hidden: mx.array, context: LayerContext) -> mx.array:
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), context)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class DflashModel(nn.Module):
    """The drafter without embedding and head, which are the verifier's."""

    def __init__(self, config: DflashConfig) -> None:
        super().__init__()
        self.fc = nn.Linear(len(config.target_layer_ids) * config.hidden_size, config.hidden_size, bias=False)
        self.hidden_norm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)
        self.layers = [DflashLayer(config, kind) for kind in config.layer_kinds]
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.norm_eps)

    def extend(self, features: mx.array, contexts: list[LayerContext]) -> None:
        """Append the context K/V of every layer for the next positions; `features` (1, L, targets x hidden)."""
        context = self.hidden_norm(self.fc(features))
        for layer, held in zip(self.layers, contexts, strict=True):
            held.append(*layer.self_attn.keys_values(context, held.offset))

    def __call__(self, embedded: mx.array, contexts: list[LayerContext]) -> mx.array:
        """Hidden states of a block (1, L, hidden) after the final norm; the context is left as it was."""
        hidden = embedded
        for layer, held in zip(self.layers, contexts, strict=True):
            hidden = layer(hidden, held)
        return self.norm(hidden)
