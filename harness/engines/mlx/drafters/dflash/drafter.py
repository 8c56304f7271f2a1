"""The `dflash` drafter in MLX: one forward proposes a block, from the verifier's hidden states."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import mlx.core as mx

from harness.base.errors import EngineError, ModelError
from harness.engines.dflash_config import DflashConfig, check_drafter_fits, read_dflash_config
from harness.engines.draft_vocab import TENSOR, check_draft_vocab
from harness.engines.drafters.base import DraftCounters
from harness.engines.mlx.drafters.dflash.layers import DflashModel, LayerContext
from harness.engines.mlx.drafters.dflash.shared_weights import Shared, share
from harness.engines.mlx.verifier.hidden_states import layers_of
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.step_loop import token_ids
from harness.models.folder.model_folder import open_folder
from reports.drafters import DFLASH

DTYPES = {"float32": mx.float32, "bfloat16": mx.bfloat16, "float16": mx.float16}


class DflashDraft:
    """The drafter's context K/V of one stream; only committed tokens ever enter it."""

    def __init__(self, config: DflashConfig, model: DflashModel, shared: Shared) -> None:
        self.counters = DraftCounters()
        self._config, self._model, self._shared = config, model, shared
        self._dtype = model.fc.weight.dtype
        self._contexts = [LayerContext(kind.window) for kind in config.layer_kinds]

    @property
    def nbytes(self) -> int:
        """Bytes of the context K/V."""
        return sum(context.nbytes for context in self._contexts)

    def propose(self, last: int, limit: int) -> list[int]:
        """The drafts for the `limit` masked positions after `last`."""
        return token_ids(self.propose_lazily(last, limit))

    def propose_lazily(self, last: int, limit: int) -> mx.array:
        """The same, (limit,), not evaluated."""
        self.counters.proposals += 1
        self.counters.proposed += limit
        return self._shared.choose(self._hidden(last, limit))

    def propose_sure(self, last: int, limit: int, least: float) -> list[int]:
        """The leading ones of the same whose probabilities multiply to at least `least`."""
        tokens, chances = self._shared.choose_with_chances(self._hidden(last, limit))
        sure = mx.sum(mx.cumprod(chances) >= least, keepdims=True)
        mx.eval(tokens, sure)
        kept = token_ids(tokens)[: token_ids(sure)[0]]
        self.counters.proposals += 1
        self.counters.proposed += len(kept)
        return kept

    def _hidden(self, last: int, limit: int) -> mx.array:
        """Of the `limit` masked positions after `last`, (1, limit, hidden)."""
        block = mx.array([[last, *[self._config.mask_token_id] * limit]])
        return self._model(self._shared.embed(block).astype(self._dtype), self._contexts)[:, 1:]

    def extend(self, tokens: Sequence[int], features: mx.array | None) -> None:
        """Make and keep context K/V from the verifier's hidden states at `tokens`."""
        if features is None or features.shape[1] != len(tokens):
            raise EngineError("dflash needs the verifier's hidden states of every token of its context")
        self._model.extend(features.astype(self._dtype), self._contexts)
        mx.eval([context.arrays() for context in self._contexts])
        self.counters.context += len(tokens)


class DflashDrafter:
    """A checkpoint of the published layout, plugged into a verifier."""

    single_graph: ClassVar[bool] = True
    name: ClassVar[str] = DFLASH.name
    runtime: ClassVar[str] = DFLASH.runtime

    def __init__(self, folder: Path, weights: str | None, verifier: Verifier, dtype: str | None) -> None:
        """Load the weights in `folder`, whose digest is `weights`, as `dtype` (the checkpoint's own if None).

        Raises:
            ModelError: config or weights missing, damaged or of another layout.
            EngineError: the drafter does not fit the verifier.
        """
        self._config = read_dflash_config(folder)
        self._shared = share(verifier.model)
        check_dflash_fit(self._config, verifier, self._shared.hidden_size)
        self._model, ids = _load(folder, self._config, dtype)
        check_draft_vocab(
            folder, self._config.draft_vocab, None if ids is None else token_ids(ids), verifier.architecture.vocab
        )
        if ids is not None:
            self._shared = self._shared.restricted(ids)
        self.weights = weights

    @property
    def layers(self) -> tuple[int, ...]:
        """The verifier layers it reads."""
        return self._config.target_layer_ids

    @property
    def dtype(self) -> str:
        """Of its weights as loaded."""
        return str(self._model.fc.weight.dtype).removeprefix("mlx.core.")

    @property
    def trained_block_size(self) -> int:
        """Positions of a block it was trained for."""
        return self._config.block_size

    def begin(self) -> DflashDraft:
        """An empty context."""
        return DflashDraft(self._config, self._model, self._shared)


def check_dflash_fit(config: DflashConfig, verifier: Verifier, hidden_size: int) -> None:
    """Raises: EngineError: as `check_drafter_fits`, or a layer that the verifier does not have."""
    check_drafter_fits(config, hidden_size, verifier.architecture.vocab)
    layers_of(verifier.model, config.target_layer_ids)


def _load(folder: Path, config: DflashConfig, dtype: str | None) -> tuple[DflashModel, mx.array | None]:
    """The model, and the ids of its draft vocabulary (N,) if it has one."""
    model = DflashModel(config)
    weights: dict[str, Any] = {}
    for file in open_folder(folder).weights:
        weights.update(mx.load(str(file.path)))  # type: ignore[arg-type]
    ids = weights.pop(TENSOR, None)
    if dtype is not None:
        weights = {name: array.astype(DTYPES[dtype]) for name, array in weights.items()}
    try:
        model.load_weights(list(weights.items()), strict=True)
    except ValueError as error:
        first = str(error).splitlines()[0]
        raise ModelError(f"{folder}: the weights are not of the published DFlash layout: {first}") from error
    mx.eval(model.parameters())
    return model, None if ids is None else ids.astype(mx.int32)
