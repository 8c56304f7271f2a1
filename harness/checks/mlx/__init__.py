"""Checks that compute in MLX. Importing this package puts a fast BLAS in front of MLX first."""

import harness.engines.mlx  # noqa: F401
