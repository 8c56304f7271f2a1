"""No test depends on the clock: hypothesis sets no deadline. Tests that need PyTorch are left out by a marker alone."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("k3", deadline=None)
settings.load_profile("k3")

TORCH_MODULE = "pytestmark = pytest.mark.torch"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where `-m "not torch"` leaves the tests of PyTorch out, modules that import it are not even opened."""
    if "not torch" in config.option.markexpr and collection_path.match("test_*.py"):
        return True if TORCH_MODULE in collection_path.read_text(encoding="utf-8").splitlines() else None
    return None
