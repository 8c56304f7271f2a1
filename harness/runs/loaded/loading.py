"""From the names of models to loaded models, on the backend that is asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.errors import ModelError
from harness.models.folder.model_folder import open_folder
from harness.models.model_text import ModelText
from harness.models.resolve import ResolvedModel
from harness.plans.preset import BasePreset, NamedModel, TimedPreset
from reports.engines import TORCH
from reports.records.provenance import ModelInfo

if TYPE_CHECKING:
    from harness.runs.loaded.mlx_models import LoadedMlxModels
    from harness.runs.loaded.torch_models import LoadedTorchModels


def load_preset_models(preset: BasePreset) -> "LoadedMlxModels | LoadedTorchModels":
    """The models of `preset`, on the backend that it names.

    Raises: as `load_models` and `load_torch_models`.
    """
    verifier, *others = preset.models()
    if isinstance(preset, TimedPreset) and preset.backend == TORCH:
        return load_torch_models(verifier.name, others, preset.device or "cpu", preset.dtype)
    return load_models(verifier.name, others)


def load_models(model: str, others: Sequence[NamedModel] = ()) -> "LoadedMlxModels":
    """Resolve `model` and `others` (fetching what comes as a package), check their weights, load the verifier.

    The others are loaded by the engines that use them.

    Raises:
        ModelError: one is unknown, missing or damaged, or the verifier is of no kind mlx-lm can run.
    """
    from harness.engines.mlx.blas import blas_threads
    from harness.engines.mlx.device import blas_name, device_name, raise_wired_limit
    from harness.engines.mlx.verifier.load import load_verifier
    from harness.models.info import model_info, positions
    from harness.runs.loaded.mlx_models import LoadedMlxModels

    resolved, infos = _resolved(model, others)
    verifier = load_verifier(resolved.folder)
    raise_wired_limit()
    return LoadedMlxModels(
        verifier=verifier,
        models=(model_info(resolved, "verifier"), *infos),
        text=ModelText(
            verifier.tokenizer, verifier.architecture.vocab, positions=positions(open_folder(resolved.folder).config)
        ),
        device=device_name(),
        blas=blas_name(),
        blas_threads=blas_threads(),
    )


def load_torch_models(
    model: str, others: Sequence[NamedModel] = (), device: str = "cpu", dtype: str | None = None
) -> "LoadedTorchModels":
    """The same with PyTorch on `device`, as `dtype` or in the type that the weights are stored in.

    Raises:
        ModelError: as `load_models`, of transformers; or the loaded verifier cannot be compared with its reference.
        CannotRunError: PyTorch has no such device here.
    """
    from harness.checks.torch.verify_loaded import verified
    from harness.engines.torch.verifier.load import blas_name, load_verifier, threads
    from harness.models.info import model_info, positions
    from harness.runs.loaded.torch_models import LoadedTorchModels

    resolved, infos = _resolved(model, others)
    verifier = load_verifier(resolved.folder, device, dtype)
    own = model_info(resolved, "verifier")
    own = own.replace(dtype=verifier.architecture.dtype, faithfulness=verified(verifier, resolved.folder))
    return LoadedTorchModels(
        verifier=verifier,
        models=(own, *infos),
        text=ModelText(
            verifier.tokenizer,
            verifier.architecture.vocab,
            verifier.architecture.eos_ids,
            positions(open_folder(resolved.folder).config),
        ),
        device=verifier.device.describe(),
        blas=blas_name(),
        blas_threads=threads(),
    )


def _resolved(model: str, others: Sequence[NamedModel]) -> tuple[ResolvedModel, list[ModelInfo]]:
    """The verifier, and what a report says of the others."""
    from harness.fetching.fetch import ensure
    from harness.models.info import model_info
    from harness.models.registry import registry

    known = registry().models.get(model)
    if known is not None and known.role != "verifier":
        raise ModelError(f"{model}: is weights of role {known.role}, no model that runs by itself; name a verifier")
    return ensure(model), [model_info(ensure(other.name), other.role) for other in others]
