"""What a codec loses: energy of the error of K, V and the attention output, layer by layer."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from harness.engines.mlx.kv_quant.captured_kv import AttentionInputs, LayerKv
from harness.engines.mlx.kv_quant.stored_kv import CodecPair, StoredLayer, restore
from reports.records.codec_rows import LayerEnergy, LayerError

DIGITS = 4
"""Significant digits that reports keep of an error, of which they hold tens of thousands."""


def energies(kv: Sequence[LayerKv]) -> tuple[LayerEnergy, ...]:
    """Sums of squares of K and V of every layer."""
    return tuple(LayerEnergy(layer=one.layer, k=_energy(one.keys), v=_energy(one.values)) for one in kv)


def layer_errors(
    pair: CodecPair, kv: Sequence[LayerKv], stored: Sequence[StoredLayer], inputs: Sequence[AttentionInputs]
) -> tuple[LayerError, ...]:
    """The errors of what was stored, of K quantised before RoPE, and of the attention over what is restored.

    RoPE is orthogonal, so an error made before it has the same energy after it.
    """
    return tuple(_of_layer(pair, *parts) for parts in zip(kv, stored, inputs, strict=True))


def _of_layer(pair: CodecPair, kv: LayerKv, stored: StoredLayer, inputs: AttentionInputs) -> LayerError:
    of_keys, _ = pair.of(kv.layer)
    keys, values = restore(pair, stored, kv.keys)
    before = of_keys.decode(of_keys.encode(inputs.keys_before))
    exact = attend(inputs, kv.keys, kv.values)
    return LayerError(
        layer=kv.layer,
        k=relative_energy(keys, kv.keys),
        v=relative_energy(values, kv.values),
        k_before_rope=relative_energy(before, inputs.keys_before),
        attention=relative_energy(attend(inputs, keys, values), exact),
    )


def attend(inputs: AttentionInputs, keys: mx.array, values: mx.array) -> mx.array:
    """Attention output of the last queries, before the output projection."""
    return mx.fast.scaled_dot_product_attention(inputs.queries, keys, values, scale=inputs.scale, mask="causal")


def relative_energy(lossy: mx.array, exact: mx.array) -> float:
    """Energy of the difference over that of `exact`, to `DIGITS` digits; 0 where both are 0."""
    error, energy = _energy(lossy.astype(mx.float32) - exact.astype(mx.float32)), _energy(exact)
    return float(f"{error / energy:.{DIGITS}g}") if energy else error


def _energy(x: mx.array) -> float:
    return float(np.array(mx.square(x.astype(mx.float32)).sum()))
