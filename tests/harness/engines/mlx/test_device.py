"""What provenance says of the machine's arithmetic."""

import sys

from harness.engines.mlx.blas import preload
from harness.engines.mlx.device import blas_name, device_name, raise_wired_limit


def test_device_and_blas_are_named() -> None:
    assert device_name().split(" ")[0] in ("cpu", "gpu")
    assert blas_name().startswith(preload().name)
    assert "/" not in blas_name()


def test_the_wired_limit_is_left_alone_without_metal() -> None:
    if sys.platform == "linux":
        raise_wired_limit()
