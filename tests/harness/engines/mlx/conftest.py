"""Puts the BLAS in front before any test module here imports MLX, as every user of the package does."""

import harness.engines.mlx  # noqa: F401
