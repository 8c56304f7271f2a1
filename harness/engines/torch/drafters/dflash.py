"""The `dflash` drafter beside a verifier that runs in PyTorch: nothing crosses between runtimes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from harness.base.errors import EngineError
from harness.engines.dflash_config import read_dflash_config
from harness.engines.drafters.base import DraftCounters
from harness.engines.torch.dflash import TorchContext, TorchDflash
from harness.engines.torch.verifier.layer_outputs import LayerOutputs
from harness.engines.torch.verifier.load import Verifier
from reports.drafters import DFLASH


class DflashDraft:
    """The drafter's context K/V of one stream; only committed tokens ever enter it."""

    def __init__(self, model: TorchDflash) -> None:
        self.counters = DraftCounters()
        self._model, self._context = model, TorchContext()

    @property
    def nbytes(self) -> int:
        """Bytes of the context K/V."""
        return self._context.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """The drafts for the `limit` masked positions after `last`."""
        self.counters.proposals += 1
        self.counters.proposed += limit
        return self._model.propose(self._context, last, limit)

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Make and keep context K/V from the verifier's hidden states at `tokens`."""
        if features is None or features.shape[1] != len(tokens):
            raise EngineError("dflash needs the verifier's hidden states of every token of its context")
        self._model.extend(self._context, features)
        self.counters.context += len(tokens)


class DflashDrafter:
    """A checkpoint of the published layout, plugged into a verifier."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = DFLASH.name
    runtime: ClassVar[str] = "torch"

    def __init__(self, folder: Path, weights: str, verifier: Verifier, dtype: str | None) -> None:
        """Load the weights in `folder`, whose digest is `weights`, as `dtype` (the checkpoint's own if None).

        Raises:
            ModelError: config or weights missing, damaged or of another layout.
            EngineError: the drafter does not fit the verifier, or needs a scaled RoPE.
        """
        self._config, model = read_dflash_config(folder), verifier.model
        table, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
        if self._config.hidden_size != table.shape[1]:
            raise EngineError(
                f"dflash: hidden_size {self._config.hidden_size}, the verifier's is {table.shape[1]}; not its drafter"
            )
        vocab = verifier.architecture.vocab
        if self._config.mask_token_id >= vocab:
            raise EngineError(f"dflash: mask_token_id {self._config.mask_token_id} is none of the verifier's {vocab}")
        LayerOutputs(model, self._config.target_layer_ids)
        softcap = getattr(model.config, "final_logit_softcapping", None)
        self._model = TorchDflash(folder, self._config, table, head, softcap, dtype)
        self.weights: str | None = weights

    @property
    def layers(self) -> tuple[int, ...]:
        """The verifier layers it reads."""
        return self._config.target_layer_ids

    @property
    def dtype(self) -> str:
        """Of its weights as loaded."""
        return str(self._model.dtype).removeprefix("torch.")

    @property
    def trained_block_size(self) -> int:
        """Positions of a block it was trained for."""
        return self._config.block_size

    def begin(self) -> DflashDraft:
        """An empty context."""
        return DflashDraft(self._model)
