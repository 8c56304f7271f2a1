"""Auxiliary hidden states: the outputs of chosen layers, taken from the same forward that verifies."""

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mlx.core as mx
from mlx import nn

from harness.base.errors import EngineError


class Tap:
    """Stands in a layer's place during a forward: runs it, keeps what it put out, and otherwise is the layer."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self.output: mx.array | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The layer's result, whatever it is; where it is a tuple the hidden states come first."""
        result = self._layer(*args, **kwargs)
        self.output = result[0] if isinstance(result, tuple) else result
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)


class Captured:
    """The taps of one forward, in the order asked for."""

    def __init__(self, taps: Sequence[Tap]) -> None:
        self._taps = taps

    def features(self) -> mx.array | None:
        """The outputs concatenated, (1, L, layers x hidden), not evaluated; None if no layer was asked for.

        Raises:
            EngineError: a layer was not run since the last call.
        """
        if not self._taps:
            return None
        outputs = [tap.output for tap in self._taps]
        for tap in self._taps:
            tap.output = None
        found = [output for output in outputs if output is not None]
        if len(found) != len(outputs):
            raise EngineError("a layer whose output is wanted was not run; this model does not call its layers list")
        return mx.concatenate(found, axis=-1)


class LayerOutputs:
    """The layers of a model whose outputs are wanted; looked up once, tapped only while capturing."""

    def __init__(self, model: Any, layers: Sequence[int]) -> None:
        """Raises: EngineError: the model has no list of layers, or not one of `layers`."""
        self._layers = tuple(layers)
        self._held = layers_of(model, layers) if layers else []

    @contextmanager
    def capture(self) -> Iterator[Captured]:
        """Within the context, every forward of the model leaves the outputs of the layers in what is yielded.

        Layer `i` is what transformers calls `hidden_states[i + 1]` (of the last layer: before the final norm). The
        model is as it was when the context ends, also by an exception; nothing is patched for good.
        """
        originals = {index: self._held[index] for index in self._layers}
        taps = {index: Tap(layer) for index, layer in originals.items()}
        try:
            for index, tap in taps.items():
                self._held[index] = tap
            yield Captured([taps[index] for index in self._layers])
        finally:
            for index, layer in originals.items():
                self._held[index] = layer


def layers_of(model: Any, layers: Sequence[int]) -> list[Any]:
    """The list that the model's forward goes through, if it has all of `layers`.

    `model.layers` of some families is a copy (of the layers of one pipeline stage), so the list itself is looked for.

    Raises:
        EngineError: it has not.
    """
    wanted = getattr(model, "layers", None) or []
    modules = model.modules() if isinstance(model, nn.Module) else []
    for module in modules:
        held = module.get("layers")
        if isinstance(held, list) and len(held) == len(wanted) and all(map(operator.is_, held, wanted)):
            break
    else:
        raise EngineError(f"{type(model).__module__} has no list of layers, so their outputs cannot be captured")
    beyond = [index for index in layers if not 0 <= index < len(held)]
    if beyond:
        raise EngineError(f"target_layer_ids: there is no layer {beyond[0]}; the verifier has 0 to {len(held) - 1}")
    return held
