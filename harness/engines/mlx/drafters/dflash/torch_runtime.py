"""The hybrid runtime: the verifier in MLX, the DFlash drafter in PyTorch, bridged once a block in each direction.

Hidden states of the committed tokens go over with `extend`, the drafts come back as ints from `propose`. The
verifier's table and head are copied over once, at load.
"""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import mlx.core as mx
import numpy as np

from harness.base.errors import CannotRunError
from harness.base.remedies import TORCH_REMEDY
from harness.engines.dflash_config import read_dflash_config
from harness.engines.mlx.drafters.dflash.drafter import check_dflash_fit
from harness.engines.mlx.drafters.dflash.shared_weights import Shared, share
from harness.engines.mlx.verifier.load import Verifier
from reports.drafters import DFLASH_TORCH

if TYPE_CHECKING:
    from torch import Tensor

    from harness.engines.torch.dflash_draft import TorchDraft

ROWS = 8192


class TorchDflashDrafter:
    """The reference plugged into an MLX verifier."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = DFLASH_TORCH.name
    runtime: ClassVar[str] = DFLASH_TORCH.runtime

    def __init__(self, folder: Path, weights: str | None, verifier: Verifier, dtype: str | None) -> None:
        """Load the weights in `folder` with PyTorch as `dtype`, the checkpoint's own if None.

        Raises:
            CannotRunError: PyTorch is not installed.
            ModelError: config or weights missing, damaged or of another layout.
            EngineError: the drafter does not fit the verifier, or needs a scaled RoPE.
        """
        try:
            from harness.engines.torch.dflash import TorchDflash
            from harness.engines.torch.dflash_draft import TorchDraft
        except ImportError as error:
            raise CannotRunError(f"dflash-torch needs PyTorch: {TORCH_REMEDY}") from error
        self._config = read_dflash_config(folder)
        shared = share(verifier.model)
        check_dflash_fit(self._config, verifier, shared.hidden_size)
        table, head = _table_and_head(shared, verifier.architecture.vocab)
        self._model = TorchDflash(folder, self._config, table, head, shared.softcap, dtype)
        self._draft = TorchDraft
        self.weights = weights

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

    def begin(self) -> "TorchDraft":
        """An empty context."""
        return self._draft(DFLASH_TORCH.kind, self._model, to_torch)


def to_torch(array: mx.array) -> "Tensor":
    """A copy in float32, which every narrower type fits into exactly."""
    import torch

    return torch.from_numpy(np.array(array.astype(mx.float32)))


def _table_and_head(shared: Shared, vocab: int) -> tuple["Tensor", "Tensor"]:
    """The embedding table and the head's matrix, (vocabulary, hidden), through the modules so that any quantisation
    is undone: rows of the table by looking them up, columns of the head by projecting unit vectors."""
    import torch

    ids = [mx.arange(start, min(start + ROWS, vocab))[None] for start in range(0, vocab, ROWS)]
    table = torch.cat([to_torch(shared.embed(part))[0] for part in ids])
    units = mx.eye(shared.hidden_size)[None]
    head = to_torch(shared.project(units))[0].T.contiguous()
    return table, head
