"""Bounding a verifier of mlx-lm."""

from functools import partial

from harness.engines.bounded.bounded_verifier import BoundedVerifier, bound_by
from harness.engines.mlx.bounded.arrays import ARRAYS
from harness.engines.mlx.bounded.f_theta import load_projection
from harness.engines.mlx.bounded.forward import take_apart
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import EngineSettings


def bound(verifier: Verifier, settings: EngineSettings) -> BoundedVerifier | None:
    """The bounded verifier that `settings` ask for; None for restoration `none`, which bounds nothing.

    Raises: as `bound_by`.
    """
    return bound_by(
        verifier,
        settings,
        ARRAYS,
        lambda: take_apart(verifier.model, verifier.architecture.name),
        partial(load_projection, verifier=verifier),
    )
