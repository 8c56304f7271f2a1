"""From a drafter request to a loaded drafter."""

from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.combined import CombinedDrafter
from harness.engines.mlx.drafters.dflash import DflashDrafter
from harness.engines.mlx.drafters.dflash_torch import TorchDflashDrafter
from harness.engines.mlx.drafters.model import ModelDrafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.load import Verifier
from harness.engines.registry import DrafterRequest
from harness.errors import UsageError
from harness.models.resolve import resolve

PREFILL_CHUNK = 512


def load_drafter(request: DrafterRequest, verifier: Verifier) -> Drafter:
    """The drafter of `request`, ready for `verifier`; nothing is fetched.

    Raises:
        UsageError: a model is named where none is needed, or the other way round.
        ModelError: the model is missing, damaged or of no kind that can draft.
        EngineError: it does not fit this verifier.
    """
    drafter = _load(request, verifier)
    if request.shuffle_seed is None:
        return drafter
    return ShuffledDrafter(drafter, verifier.facts.vocab, request.shuffle_seed)


def _load(request: DrafterRequest, verifier: Verifier) -> Drafter:
    if request.kind == "ngram":
        if request.model is not None or request.dtype is not None:
            raise UsageError("drafter: ngram has no weights; leave out model and dtype")
        return NgramDrafter()
    if request.model is None:
        raise UsageError(f"drafter: {request.kind} needs a model; name its folder or registry entry")
    if request.kind == "model" and request.dtype is not None:
        raise UsageError("drafter: dtype: a model drafts in the type of its weights; leave it out")
    resolved = resolve(request.model)
    if request.kind == "model":
        return ModelDrafter.load(resolved.folder, resolved.weights, verifier, PREFILL_CHUNK)
    runtime = TorchDflashDrafter if request.kind == "dflash-torch" else DflashDrafter
    drafter = runtime(resolved.folder, resolved.weights, verifier, request.dtype)
    if request.block_size > drafter.trained_block_size:
        raise UsageError(
            f"drafter: block_size: {request.block_size} is more than the {drafter.trained_block_size} positions "
            f"{resolved.id} was trained for"
        )
    return CombinedDrafter(drafter) if request.kind == "combined" and isinstance(drafter, DflashDrafter) else drafter
