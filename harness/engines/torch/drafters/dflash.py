"""The `dflash` drafter beside a verifier that runs in PyTorch: nothing crosses between runtimes."""

from pathlib import Path
from typing import ClassVar

from harness.engines.dflash_config import check_drafter_fits, read_dflash_config
from harness.engines.torch.dflash import TorchDflash
from harness.engines.torch.dflash_draft import TorchDraft
from harness.engines.torch.verifier.layer_outputs import LayerOutputs
from harness.engines.torch.verifier.load import Verifier
from reports.drafters import DFLASH


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
        check_drafter_fits(self._config, table.shape[1], verifier.architecture.vocab)
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

    def begin(self) -> TorchDraft:
        """An empty context."""
        return TorchDraft(DFLASH.kind, self._model, lambda features: features)
