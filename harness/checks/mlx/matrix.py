"""The losslessness matrix on MLX."""

from harness.checks.lossless_run import MatrixBackend
from harness.checks.mlx.fork import copy_kv
from harness.checks.mlx.stream_audit import audit
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.engines.fused_carry import FusedCarryEngine

MATRIX = MatrixBackend({engine.kind.name: engine for engine in (FusedEngine, FusedCarryEngine)}, copy_kv, audit)
