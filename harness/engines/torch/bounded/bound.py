"""Bounding a verifier of transformers."""

from functools import partial

from harness.engines.bounded.bounded_verifier import BoundedVerifier, bound_by
from harness.engines.spec import EngineSettings
from harness.engines.torch.bounded.arrays import TorchArrays
from harness.engines.torch.bounded.f_theta import load_projection
from harness.engines.torch.bounded.forward import take_apart
from harness.engines.torch.verifier.load import Verifier


def bound(verifier: Verifier, settings: EngineSettings) -> BoundedVerifier | None:
    """The bounded verifier that `settings` ask for; None for restoration `none`, which bounds nothing.

    Raises: as `bound_by`.
    """
    arrays = TorchArrays(verifier.device)
    return bound_by(
        verifier, settings, arrays, lambda: take_apart(verifier.model), partial(load_projection, verifier=verifier)
    )
