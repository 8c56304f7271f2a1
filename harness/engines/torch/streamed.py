"""Runs a torch model without holding it: tensors are read when the module that owns them runs, and dropped after."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

Read = Callable[[str, Tensor | None], Tensor]
"""A tensor by its name in the model; of an embedding only the rows asked for."""


@dataclass(frozen=True)
class Slot:
    """A parameter or persistent buffer: the module that owns it, its name there, and its name in the model."""

    owner: nn.Module
    key: str
    name: str

    @property
    def tensor(self) -> Tensor:
        """What is there now."""
        found: Tensor = getattr(self.owner, self.key)
        return found

    def put(self, value: Tensor) -> None:
        """Make `value` the tensor."""
        if self.key not in self.owner._parameters:
            self.owner._buffers[self.key] = value
        elif isinstance(value, nn.Parameter):
            self.owner._parameters[self.key] = value
        else:
            self.owner._parameters[self.key] = nn.Parameter(value, requires_grad=False)


@dataclass(frozen=True)
class Unit:
    """What is read together: all of a layer, or what a module outside of the layers owns itself."""

    module: nn.Module
    slots: tuple[Slot, ...]


@contextmanager
def on_meta() -> Iterator[None]:
    """Parameters of modules built within have a shape and no memory; buffers are computed as ever."""

    def to_meta(module: nn.Module, name: str, parameter: nn.Parameter | None) -> Any:
        # One that is there already stays the same object: it may be tied to another.
        if parameter is None or parameter.is_meta:
            return None
        return nn.Parameter(parameter.to("meta"), requires_grad=False)

    with register_module_parameter_registration_hook(to_meta):
        yield


def units(module: nn.Module, prefix: str = "") -> Iterator[Unit]:
    """The model in pieces; a layer is an element of an outermost `ModuleList`."""
    own = tuple(_slots(module, prefix))
    if own:
        yield Unit(module, own)
    for name, child in module.named_children():
        path = f"{prefix}{name}."
        if isinstance(module, nn.ModuleList):
            inner = child.named_modules()
            yield Unit(
                child, tuple(slot for at, part in inner for slot in _slots(part, f"{path}{at}." if at else path))
            )
        else:
            yield from units(child, path)


def _slots(module: nn.Module, prefix: str) -> Iterator[Slot]:
    held = {**module._parameters, **module._buffers}
    for key, tensor in held.items():
        if tensor is not None and key not in module._non_persistent_buffers_set:
            yield Slot(module, key, prefix + key)


@contextmanager
def streamed(model: nn.Module, read: Read) -> Iterator[None]:
    """Within, `model` runs on the tensors that `read` gives, at most one unit of them at a time.

    An embedding gets only the rows that the text has, so that a table of many gigabytes costs a few of them.
    """
    handles = [handle for unit in units(model) for handle in _attach(unit, read)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _attach(unit: Unit, read: Read) -> tuple[Any, Any]:
    if isinstance(unit.module, nn.Embedding):
        # Of use in training only; it may lie outside of the rows at hand, which torch refuses.
        unit.module.padding_idx = None
    empty = tuple(slot.tensor for slot in unit.slots)

    def fill(module: nn.Module, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if not isinstance(module, nn.Embedding):
            for slot in unit.slots:
                slot.put(read(slot.name, None))
            return arguments
        rows, positions = torch.unique(arguments[0], return_inverse=True)
        for slot in unit.slots:
            slot.put(read(slot.name, rows))
        return (positions, *arguments[1:])

    def drop(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        for slot, tensor in zip(unit.slots, empty, strict=True):
            slot.put(tensor)

    return unit.module.register_forward_pre_hook(fill), unit.module.register_forward_hook(drop)
