"""Engines on MLX. Importing this package puts a fast BLAS in front of MLX, once, before anything here imports MLX."""

from harness.engines.mlx.blas import preload

preload()
