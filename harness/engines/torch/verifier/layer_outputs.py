"""Auxiliary hidden states: the outputs of chosen layers, taken from the same forward that verifies."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from harness.base.errors import EngineError


class Captured:
    """The outputs of one forward, in the order of the layers asked for."""

    def __init__(self, layers: Sequence[int]) -> None:
        self._layers = layers
        self.outputs: dict[int, Tensor] = {}

    def features(self) -> Tensor | None:
        """The outputs concatenated, (1, L, layers x hidden); None if no layer was asked for.

        Raises:
            EngineError: a layer was not run since the last call.
        """
        if not self._layers:
            return None
        missing = [layer for layer in self._layers if layer not in self.outputs]
        if missing:
            raise EngineError(f"layer {missing[0]}, whose output is wanted, was not run")
        joined = torch.cat([self.outputs[layer] for layer in self._layers], dim=-1)
        self.outputs.clear()
        return joined


class LayerOutputs:
    """The layers of a model whose outputs are wanted; looked up once, hooked only while capturing."""

    def __init__(self, model: Any, layers: Sequence[int]) -> None:
        """Raises: EngineError: the model has no list of layers, or not one of `layers`."""
        held = layers_of(model)
        beyond = [index for index in layers if not 0 <= index < len(held)]
        if beyond:
            raise EngineError(f"target_layer_ids: there is no layer {beyond[0]}; the verifier has 0 to {len(held) - 1}")
        self._layers = tuple(layers)
        self._modules = [held[layer] for layer in layers]

    @contextmanager
    def capture(self) -> Iterator[Captured]:
        """Within the context, every forward leaves the outputs of the layers in what is yielded.

        Layer `i` is what transformers calls `hidden_states[i + 1]` (of the last layer: before the final norm).
        """
        captured = Captured(self._layers)

        def keep(layer: int) -> Any:
            def hook(module: Any, arguments: Any, output: Any) -> None:
                captured.outputs[layer] = output[0] if isinstance(output, tuple) else output

            return hook

        pairs = zip(self._layers, self._modules, strict=True)
        handles = [module.register_forward_hook(keep(layer)) for layer, module in pairs]
        try:
            yield captured
        finally:
            for handle in handles:
                handle.remove()


def layers_of(model: Any) -> Any:
    """The list of layers that the model's forward goes through.

    Raises:
        EngineError: it has none where known families have it.
    """
    held = getattr(model.base_model, "layers", None)
    if held is None:
        raise EngineError(f"{type(model).__name__} has no list of layers where known families have it")
    return held
