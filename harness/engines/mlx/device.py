"""What MLX computes on, in words for provenance and `k3 doctor`."""

import mlx.core as mx

from harness.engines.mlx.blas import preload


def device_name() -> str:
    """The default device and its chip, for example `gpu (Apple M2 Max)`."""
    kind = "gpu" if mx.default_device().type == mx.DeviceType.gpu else "cpu"
    chip = mx.device_info().get("device_name", "unknown chip")
    return f"{kind} ({chip})"


def blas_name() -> str:
    """The BLAS float32 matrix products go through: library, file and package version."""
    info = preload()
    return f"{info.name}, {info.path}" if info.path else info.name


def raise_wired_limit() -> None:
    """Let Metal keep as much memory resident as the device recommends, as mlx-lm does; elsewhere nothing."""
    recommended = mx.device_info().get("max_recommended_working_set_size")
    if mx.metal.is_available() and recommended is not None:
        mx.set_wired_limit(int(recommended))
