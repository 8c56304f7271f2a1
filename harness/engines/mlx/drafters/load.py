"""From a drafter request to a loaded drafter."""

from harness.base.errors import UsageError
from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.combined import CombinedDrafter
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.mlx.drafters.dflash.torch_runtime import TorchDflashDrafter
from harness.engines.mlx.drafters.manifest import check_manifest
from harness.engines.mlx.drafters.model import ModelDrafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import DrafterRequest
from harness.models.resolve import ResolvedModel, resolve

PREFILL_CHUNK = 512


def load_drafter(request: DrafterRequest, verifier: Verifier) -> Drafter:
    """The drafter of `request`, ready for `verifier`; nothing is fetched, and no weights are loaded twice.

    Raises:
        UsageError: a model is named where none is needed, or the other way round.
        ModelError: the model is missing, damaged or of no kind that can draft.
        EngineError: it does not fit this verifier.
    """
    drafter = _shared(request, verifier)
    if request.shuffle_seed is None:
        return drafter
    return ShuffledDrafter(drafter, verifier.facts.vocab, request.shuffle_seed)


def _shared(request: DrafterRequest, verifier: Verifier) -> Drafter:
    """The drafter as loaded for another arm of this verifier, else loaded now: between streams it has no state."""
    if request.kind != "model" and request.bits is not None:
        raise UsageError(f"drafter: bits: {request.kind} is not rounded on load; leave it out, or set kind model")
    if request.kind == "ngram":
        if request.model is not None or request.dtype is not None:
            raise UsageError("drafter: ngram has no weights; leave out model and dtype")
        return NgramDrafter()
    if request.model is None:
        raise UsageError(f"drafter: {request.kind} needs a model; name its folder or registry entry")
    if request.kind == "model" and request.dtype is not None:
        raise UsageError("drafter: dtype: a model drafts in the type of its weights; leave it out")
    resolved = resolve(request.model)
    key = (request.kind, str(resolved.folder), resolved.weights, request.dtype, request.bits)
    if key not in verifier.drafters:
        verifier.drafters[key] = _load(request, resolved, verifier)
    drafter: Drafter = verifier.drafters[key]
    _check_block(request, resolved, drafter)
    return drafter


def _load(request: DrafterRequest, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    if request.kind == "model":
        return ModelDrafter.load(resolved.folder, resolved.weights, verifier, PREFILL_CHUNK, request.bits)
    check_manifest(resolved.folder, resolved.weights, verifier)
    if request.kind == "dflash-torch":
        return TorchDflashDrafter(resolved.folder, resolved.weights, verifier, request.dtype)
    drafter = DflashDrafter(resolved.folder, resolved.weights, verifier, request.dtype)
    return CombinedDrafter(drafter) if request.kind == "combined" else drafter


def _check_block(request: DrafterRequest, resolved: ResolvedModel, drafter: Drafter) -> None:
    trained = getattr(drafter, "trained_block_size", None)
    if trained is not None and request.block_size > trained:
        raise UsageError(
            f"drafter: block_size: {request.block_size} is more than the {trained} positions {resolved.id} was "
            "trained for"
        )
