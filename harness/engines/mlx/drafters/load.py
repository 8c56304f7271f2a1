"""From a drafter request to a loaded drafter."""

from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.load import Verifier
from harness.engines.registry import DrafterRequest
from harness.errors import UsageError


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
    raise UsageError(f"drafter: kind {request.kind!r} is unknown")
