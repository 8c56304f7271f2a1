"""A drafter: after every token the one that followed it most often. Its weights are a table of one id a token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mlx.core as mx
from safetensors.numpy import load_file

import k3

WEIGHTS, TABLE = "model.safetensors", "next"


class BigramDraft:
    nbytes = 0

    def __init__(self, follow: Callable[[int, int], list[int]]) -> None:
        self.counters, self._follow = k3.DraftCounters(), follow

    def propose(self, last: int, limit: int) -> list[int]:
        drafts = self._follow(last, limit)
        self.counters.proposals += bool(drafts)
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        self.counters.context += len(tokens)


@dataclass(frozen=True)
class BigramDrafter:
    follow: Callable[[int, int], list[int]]
    runtime: str
    weights: str

    name: ClassVar[str] = "bigram"
    single_graph: ClassVar[bool] = False
    layers: ClassVar[tuple[int, ...]] = ()
    dtype: ClassVar[str] = "int32"

    def begin(self) -> BigramDraft:
        return BigramDraft(self.follow)


def load(spec: k3.DrafterSpec, model: k3.ResolvedModel, verifier: k3.Verifier) -> BigramDrafter:
    """The port, in MLX: ids stay arrays until all are known."""
    table = mx.load(str(model.folder / WEIGHTS))[TABLE]
    _check(len(table), verifier)

    def follow(last: int, limit: int) -> list[int]:
        drafts, token = [], mx.array(last)
        for _ in range(limit):
            token = table[token]
            drafts.append(token)
        return mx.stack(drafts).tolist() if drafts else []

    return BigramDrafter(follow, "mlx", model.weights)


def load_reference(spec: k3.DrafterSpec, model: k3.ResolvedModel, verifier: k3.Verifier) -> BigramDrafter:
    """The reference, in NumPy: id by id."""
    table = load_file(model.folder / WEIGHTS)[TABLE]
    _check(len(table), verifier)

    def follow(last: int, limit: int) -> list[int]:
        drafts: list[int] = []
        for _ in range(limit):
            last = int(table[last])
            drafts.append(last)
        return drafts

    return BigramDrafter(follow, "numpy", model.weights)


def _check(length: int, verifier: k3.Verifier) -> None:
    if length != verifier.architecture.vocab:
        raise k3.EngineError(f"bigram: a table of {length} tokens, the verifier has {verifier.architecture.vocab}")
