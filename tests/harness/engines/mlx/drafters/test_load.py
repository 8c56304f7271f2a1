"""Loading drafters: every kind of the vocabulary that has weights is one that can be loaded."""

from harness.engines.mlx.drafters.load import LOADERS
from reports.drafters import DRAFTERS


def test_every_kind_with_weights_has_a_loader() -> None:
    assert list(LOADERS) == [kind.kind for kind in DRAFTERS.values() if kind.weights]
